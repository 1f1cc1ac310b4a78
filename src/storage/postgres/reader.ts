import type { Pool } from "./pool.ts";

/** A value of a query's parameter; text holds no U+0000. */
type Value = string | bigint | number;

/**
 * Reads that come in together go out together, and those that ask the same are one. A read is sent after all that
 * share it were asked, so that each of them sees every write that was answered before it.
 */
export class Reader {
  readonly #pool: Pool;
  /** What goes out at the next turn, by question. */
  readonly #waiting = new Map<string, Promise<readonly unknown[]>>();
  #nextTurn: Promise<void> | undefined;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * The rows that a query returns. They are shared: nobody may change them.
   * @throws AppError `unavailable` within the time for a query
   */
  query<Row>(text: string, values: readonly Value[]): Promise<readonly Row[]> {
    const question = [text, ...values].join("\0");
    const known = this.#waiting.get(question) as Promise<readonly Row[]> | undefined;
    if (known !== undefined) return known;
    const rows = this.#turn().then(() => this.#pool.query<Row>(text, [...values]));
    this.#waiting.set(question, rows);
    return rows;
  }

  /** Resolves when the requests that arrived together have all been looked at. */
  #turn(): Promise<void> {
    this.#nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#nextTurn = undefined;
        this.#waiting.clear();
        resolve();
      });
    });
    return this.#nextTurn;
  }
}
