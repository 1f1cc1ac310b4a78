import type { Pool } from "./pool.ts";

/** A query parameter; text without U+0000. */
type Value = string | bigint | number;

/**
 * Sends the reads of one event-loop tick together, identical ones once. A read is sent after all requests that share it have
 * arrived, so each request sees every write that was acknowledged before it.
 */
export class Reader {
  readonly #pool: Pool;
  /** Reads of this tick, by query text and parameters. */
  readonly #queue = new Map<string, Promise<readonly unknown[]>>();
  #nextTick: Promise<void> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Returns the rows of a query. They are shared, so they must not be changed.
   * @throws AppError `unavailable` within the query timeout
   */
  query<Row>(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const key = [text, ...values].join("\0");
    const shared = this.#queue.get(key) as Promise<readonly Row[]> | undefined;
    if (shared !== undefined) return shared;
    const rows = this.#tick().then(() => this.#pool.query<Row>(text, [...values]));
    this.#queue.set(key, rows);
    return rows;
  }

  /** Resolves at the end of the event-loop tick. */
  #tick(): Promise<void> {
    this.#nextTick ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#nextTick = undefined;
        this.#queue.clear();
        resolve();
      });
    });
    return this.#nextTick;
  }
}
