import type { Token } from "../../domain/token.ts";
import { type TokenRow, toToken } from "../rows.ts";
import type { Pool } from "./pool.ts";

/** Look-ups that were queued behind a statement that failed after this time fail with it, instead of waiting twice as long. */
const LONG_MS = 1_000;

interface QueuedLookup {
  resolve(token: Token | undefined): void;
  reject(reason: unknown): void;
}

/**
 * Looks up tokens in batches. Look-ups that arrive while a statement is in flight form the next one, so that a flood of
 * unknown tokens costs the database one statement at a time, and a valid token among them waits for at most two.
 */
export class TokenReader {
  readonly #pool: Pool;
  #queue = new Map<string, QueuedLookup[]>();
  #isBusy = false;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * The token with this digest.
   * @throws AppError `unavailable`
   */
  read(digest: string): Promise<Token | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Token | undefined>();
    const others = this.#queue.get(digest);
    if (others === undefined) this.#queue.set(digest, [{ resolve, reject }]);
    else others.push({ resolve, reject });
    if (!this.#isBusy) this.#flush();
    return promise;
  }

  async #flush(): Promise<void> {
    this.#isBusy = true;
    while (this.#queue.size > 0) {
      const batch = this.#takeQueue();
      const startedMs = performance.now();
      try {
        const tokens = await this.#select([...batch.keys()]);
        for (const [digest, lookups] of batch) for (const { resolve } of lookups) resolve(tokens.get(digest));
      } catch (error) {
        const others = performance.now() - startedMs > LONG_MS ? this.#takeQueue().values() : [];
        for (const { reject } of [...batch.values(), ...others].flat()) reject(error);
      }
    }
    this.#isBusy = false;
  }

  #takeQueue(): Map<string, QueuedLookup[]> {
    const queue = this.#queue;
    this.#queue = new Map();
    return queue;
  }

  async #select(digests: readonly string[]): Promise<Map<string, Token>> {
    const rows = await this.#pool.query<TokenRow>("SELECT * FROM tokens WHERE digest = ANY($1::text[])", [digests]);
    return new Map(rows.map((row) => [row.digest, toToken(row)]));
  }
}
