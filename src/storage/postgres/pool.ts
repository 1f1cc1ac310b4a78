import type { ReservedSQL, SQL } from "bun";
import { AppError } from "../../domain/error.ts";
import { endsConnection, newClient, reserve, type ServerOptions, sqlState, toAppError } from "./connection.ts";

/** How often a statement that the server rolled back in favour of another is sent. */
const MAX_ATTEMPTS = 8;
/** After a connection could not be opened beside others, the pool makes do with those for so long. */
const REOPEN_AFTER_MS = 1_000;

/** One connection to the server. Statements on it are pipelined; once closed it stays closed. */
class Connection {
  /** Statements that were sent and not answered. */
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
    // Each statement that waits for the session reports its failure; a session that nobody waits for, nobody misses.
    this.#session.catch(() => {});
  }

  /** Sends one statement. When the time is up the connection is given up too: nobody knows what holds it. */
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

/** Connections to one server, opened as they are needed. One that fails is replaced by the next statement. */
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
   * The rows that one statement returns, each a transaction of its own. It is sent again only after the server said
   * that it rolled it back; an answer that is lost is never asked for twice.
   * @throws AppError `unavailable` within the time for a query, after which the outcome of a write is unknown
   */
  async query<Row>(text: string, values: unknown[]): Promise<Row[]> {
    const endMs = performance.now() + this.#options.queryTimeoutMs;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#pick().run<Row>(text, values, endMs - performance.now());
      } catch (error) {
        const pauseMs = Math.random() * 2 ** attempt;
        const isWorthAnother = attempt < MAX_ATTEMPTS && performance.now() + pauseMs < endMs;
        if (!isWorthAnother || !isRolledBack(error)) throw toAppError(error);
        await Bun.sleep(pauseMs);
      }
    }
  }

  /** Open connections, by whether a statement is out on them. */
  get use(): { readonly busy: number; readonly idle: number } {
    const open = [...this.#connections].filter(({ isOpen }) => isOpen);
    const busy = open.filter(({ pending }) => pending > 0).length;
    return { busy, idle: open.length - busy };
  }

  /** Lets go of the server; statements that are out fail. */
  close(): void {
    for (const connection of this.#connections) connection.close();
  }

  /** The least busy connection. When all are busy one more is opened, which no statement waits for. */
  #pick(): Connection {
    let best: Connection | undefined;
    let isOpening = false;
    for (const connection of this.#connections) {
      if (!connection.isOpen) isOpening = true;
      if (best === undefined || load(connection) < load(best)) best = connection;
    }
    if (best === undefined) return this.#open();
    const isFull = isOpening || this.#connections.size === this.#maxLength;
    if (best.pending > 0 && !isFull && performance.now() >= this.#mayOpenAtMs) this.#open();
    return best;
  }

  #open(): Connection {
    const connection = new Connection(this.#options, (closed) => {
      const isNews = this.#connections.delete(closed);
      if (isNews && !closed.wasOpen) this.#mayOpenAtMs = performance.now() + REOPEN_AFTER_MS;
    });
    this.#connections.add(connection);
    return connection;
  }
}

/** Statements before the next one; those that still open come after all that are open. */
const load = ({ isOpen, pending }: Connection): number => (isOpen ? pending : Number.MAX_SAFE_INTEGER);

/** Serialization failure and deadlock: the server undid the statement, which may be sent again as it is. */
const isRolledBack = (error: unknown): boolean => ["40001", "40P01"].includes(sqlState(error) ?? "");

/** Rejects when the time is up, unless it is cancelled before. */
function expireAfter(timeoutMs: number): { promise: Promise<never>; cancel(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new AppError("unavailable", "the database did not answer in time: try again"));
  }, timeoutMs);
  return { promise, cancel: () => clearTimeout(timer) };
}
