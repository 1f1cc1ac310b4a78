import type { ReservedSQL, SQL } from "bun";
import { AppError } from "../../domain/error.ts";
import { endsConnection, newClient, reserve, type ServerOptions, sqlState, toAppError } from "./connection.ts";

/** Maximum attempts for a statement that the server rolls back because of a concurrent transaction. */
const MAX_ATTEMPTS = 8;
/** Delay before the pool opens an additional connection after it failed to open one. */
const REOPEN_AFTER_MS = 1_000;

/** One connection to the server. Statements on it are pipelined. Once closed, it stays closed. */
class Connection {
  /** Statements in flight. */
  pending = 0;
  isOpen = false;
  wasOpen = false;
  readonly #client: SQL;
  readonly #session: Promise<ReservedSQL>;
  readonly #onClose: (connection: Connection) => void;

  constructor(options: ServerOptions, onClose: (connection: Connection) => void) {
    this.#onClose = onClose;
    this.#client = newClient(options, () => this.close());
    this.#session = this.#open(options.queryTimeoutMs);
    // Each statement that awaits the session reports the error.
    this.#session.catch(() => {});
  }

  /** Sends one statement. After a timeout the connection is closed too, because its state is unknown. */
  async run<Row>(text: string, values: unknown[], timeoutMs: number): Promise<Row[]> {
    this.pending++;
    const expiry = expireAfter(timeoutMs);
    try {
      return await Promise.race([this.#send<Row>(text, values), expiry.promise]);
    } catch (error) {
      if (endsConnection(error)) this.close();
      throw error;
    } finally {
      expiry.cancel();
      this.pending--;
    }
  }

  close(): void {
    this.isOpen = false;
    this.#onClose(this);
    this.#client.close({ timeout: 0 }).catch(() => {});
  }

  async #send<Row>(text: string, values: unknown[]): Promise<Row[]> {
    const session = await this.#session;
    return await session.unsafe<Row[]>(text, values);
  }

  async #open(timeoutMs: number): Promise<ReservedSQL> {
    const expiry = expireAfter(timeoutMs);
    try {
      const session = await Promise.race([reserve(this.#client, timeoutMs), expiry.promise]);
      this.isOpen = true;
      this.wasOpen = true;
      return session;
    } catch (error) {
      this.close();
      throw error;
    } finally {
      expiry.cancel();
    }
  }
}

/** Connections to one server, opened on demand. A failed connection is replaced when the next statement needs one. */
export class Pool {
  readonly #options: ServerOptions;
  readonly #maxLength: number;
  readonly #connections = new Set<Connection>();
  #mayOpenAtMs = 0;

  constructor(options: ServerOptions, maxLength: number) {
    this.#options = options;
    this.#maxLength = maxLength;
  }

  /**
   * Runs a statement in its own transaction and returns the rows. Retries it only when the server reports that it was rolled
   * back, never because a response was lost.
   * @throws AppError `unavailable` within the query timeout; the outcome of a write is then unknown
   */
  async query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    const endMs = performance.now() + this.#options.queryTimeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pick().run<Row>(text, values, endMs - performance.now());
      } catch (error) {
        const pauseMs = Math.random() * 2 ** attempt;
        const mayRetry = attempt < MAX_ATTEMPTS && performance.now() + pauseMs < endMs;
        if (!mayRetry || !isRolledBack(error)) throw toAppError(error);
        await Bun.sleep(pauseMs);
      }
    }
  }

  /** The number of open connections with and without a statement in flight. */
  get usage(): { readonly busy: number; readonly idle: number } {
    const open = [...this.#connections].filter(({ isOpen }) => isOpen);
    const busy = open.filter(({ pending }) => pending > 0).length;
    return { busy, idle: open.length - busy };
  }

  /** Closes all connections; statements in flight fail. */
  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  /** Returns the least busy connection. When all are busy, opens another one without waiting for it. */
  #pick(): Connection {
    let best: Connection | undefined;
    let isOpening = false;
    for (const connection of this.#connections) {
      if (!connection.isOpen) isOpening = true;
      if (best === undefined || load(connection) < load(best)) best = connection;
    }
    if (best === undefined) return this.#open();
    const limitReached = isOpening || this.#connections.size === this.#maxLength;
    if (best.pending > 0 && !limitReached && performance.now() >= this.#mayOpenAtMs) this.#open();
    return best;
  }

  #open(): Connection {
    const connection = new Connection(this.#options, (closed) => {
      const wasListed = this.#connections.delete(closed);
      if (wasListed && !closed.wasOpen) this.#mayOpenAtMs = performance.now() + REOPEN_AFTER_MS;
    });
    this.#connections.add(connection);
    return connection;
  }
}

/** Returns the number of statements in flight; connections that are still opening come last. */
const load = ({ isOpen, pending }: Connection): number => (isOpen ? pending : Number.MAX_SAFE_INTEGER);

/** Returns whether a retry is safe: a serialization failure or a deadlock rolled the statement back. */
const isRolledBack = (error: unknown): boolean => ["40001", "40P01"].includes(sqlState(error) ?? "");

/** Rejects after a timeout, unless it is cancelled first. */
function expireAfter(timeoutMs: number): { promise: Promise<never>; cancel(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new AppError("unavailable", "the database did not respond in time: try again"));
  }, timeoutMs);
  return { promise, cancel: () => clearTimeout(timer) };
}
