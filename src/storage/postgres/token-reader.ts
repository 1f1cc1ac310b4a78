import type { Token } from "../../domain/token.ts";
import { type TokenRow, toToken } from "../rows.ts";
import type { Pool } from "./pool.ts";

/** Whoever waits for a statement that then fails has waited long enough for two. */
const LONG_MS = 1_000;

interface Waiting {
  resolve(token: Token | undefined): void;
  reject(reason: unknown): void;
}

/**
 * Looks tokens up. Those that come while a statement is out wait, and go together as the next: a flood of unknown
 * tokens costs the database one statement at a time, however large it is, and a good one among them waits for two.
 */
export class TokenReader {
  readonly #pool: Pool;
  #waiting = new Map<string, Waiting[]>();
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
    const others = this.#waiting.get(digest);
    if (others === undefined) this.#waiting.set(digest, [{ resolve, reject }]);
    else others.push({ resolve, reject });
    if (!this.#isBusy) this.#drain();
    return promise;
  }

  async #drain(): Promise<void> {
    this.#isBusy = true;
    while (this.#waiting.size > 0) {
      const asked = this.#takeWaiting();
      const startedMs = performance.now();
      try {
        const tokens = await this.#select([...asked.keys()]);
        for (const [digest, waiting] of asked) for (const { resolve } of waiting) resolve(tokens.get(digest));
      } catch (error) {
        const others = performance.now() - startedMs > LONG_MS ? this.#takeWaiting().values() : [];
        for (const { reject } of [...asked.values(), ...others].flat()) reject(error);
      }
    }
    this.#isBusy = false;
  }

  #takeWaiting(): Map<string, Waiting[]> {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    return waiting;
  }

  async #select(digests: readonly string[]): Promise<Map<string, Token>> {
    const rows = await this.#pool.query<TokenRow>("SELECT * FROM tokens WHERE digest = ANY($1::text[])", [digests]);
    return new Map(rows.map((row) => [row.digest, toToken(row)]));
  }
}
