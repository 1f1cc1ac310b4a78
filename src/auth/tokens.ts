import { AppError } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";
import {
  digestSecret,
  isValid,
  isWellFormedSecret,
  mintSecret,
  type Scope,
  type Token,
  tokenId,
} from "../domain/token.ts";
import type { Storage } from "../storage/storage.ts";

/** Maximum age of a cached token. A revocation by another process takes effect within this time. */
const MAX_AGE_MS = 500;
/** Maximum number of entries in each of the two caches; a cache is cleared when full. */
const MAX_CACHED = 10_000;
/** Maximum number of concurrent lookups of secrets that are not in the cache of tokens. */
const MAX_UNKNOWN_LOOKUPS = 1_024;

/** The properties of a new token. `expiresAt` is in epoch milliseconds. */
export interface TokenGrant {
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
  readonly label?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** The result of a lookup; `token` is `undefined` for an unknown secret. */
interface CacheEntry {
  readonly token: Token | undefined;
  readonly readAtMs: number;
}

/** Creates, authenticates and revokes tokens. Only the methods that create a token return its secret. */
export class Tokens {
  readonly #storage: Storage;
  /** Caches by secret. They are separate, so that a flood of unknown secrets evicts no tokens. */
  readonly #known = new Map<string, CacheEntry>();
  readonly #unknown = new Map<string, CacheEntry>();
  #unknownLookups = 0;
  /** Times of last use that are not stored yet, by digest. */
  #lastUses = new Map<string, number>();
  readonly #readClock: () => number;
  #latestMs = 0;

  /** `readClock` returns the time in epoch milliseconds. */
  constructor(storage: Storage, readClock: () => number = Date.now) {
    this.#storage = storage;
    this.#readClock = readClock;
  }

  /**
   * Returns the token of a secret, or `undefined` if it is malformed, unknown, expired or revoked. Returns a promise
   * only when it queries the database.
   * @throws AppError `unavailable`
   */
  authenticate(secret: string): Token | undefined | Promise<Token | undefined> {
    const cached = this.#known.get(secret) ?? this.#unknown.get(secret);
    const isFresh = cached !== undefined && performance.now() - cached.readAtMs < MAX_AGE_MS;
    if (isFresh) return this.#useIfValid(cached.token);
    if (!isWellFormedSecret(secret)) return undefined;
    return this.#known.has(secret) ? this.#lookUp(secret) : this.#lookUpUnknown(secret);
  }

  /** Creates a token and returns its secret. Only the digest is stored. */
  async create(grant: TokenGrant): Promise<string> {
    const { secret, token } = mint(grant, this.#readClock());
    await this.#storage.insertToken(token);
    return secret;
  }

  /** Creates a token if the database has none, and returns its secret; otherwise returns `undefined`. */
  async createFirst(grant: TokenGrant): Promise<string | undefined> {
    const { secret, token } = mint(grant, this.#readClock());
    return (await this.#storage.insertFirstToken(token)) ? secret : undefined;
  }

  /** Returns all tokens, oldest first, including revoked and expired ones. */
  list(): Promise<Token[]> {
    return this.#storage.selectTokens();
  }

  /** Revokes the token with this id or secret. Returns `false` if it does not exist or is already revoked. */
  async revoke(idOrSecret: string): Promise<boolean> {
    const digest = digestSecret(idOrSecret);
    const token = (await this.list()).find((each) => each.digest === digest || tokenId(each) === idOrSecret);
    return token !== undefined && this.#storage.revokeToken(token.digest, this.#readClock());
  }

  /** Stores the times of last use in one write. Call it periodically. */
  async storeLastUses(): Promise<void> {
    if (this.#lastUses.size === 0) return;
    const lastUses = this.#lastUses;
    this.#lastUses = new Map();
    await this.#storage.noteTokenUses(lastUses);
  }

  async #lookUp(secret: string): Promise<Token | undefined> {
    const readAtMs = performance.now();
    const token = await this.#storage.selectToken(digestSecret(secret));
    const [cache, other] = token === undefined ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    other.delete(secret);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(secret, { token, readAtMs });
    return this.#useIfValid(token);
  }

  /** Limits concurrent lookups, so that a flood of unknown secrets cannot delay lookups of tokens in use. */
  async #lookUpUnknown(secret: string): Promise<Token | undefined> {
    if (this.#unknownLookups >= MAX_UNKNOWN_LOOKUPS) {
      throw new AppError("unavailable", "too many token lookups are pending: try again");
    }
    this.#unknownLookups++;
    try {
      return await this.#lookUp(secret);
    } finally {
      this.#unknownLookups--;
    }
  }

  /** Returns the token and records its use, or returns `undefined` if it is expired, revoked or unknown. */
  #useIfValid(token: Token | undefined): Token | undefined {
    const now = this.#now();
    if (token === undefined || !isValid(token, now)) return undefined;
    this.#lastUses.set(token.digest, now);
    return token;
  }

  /** Returns a time that never decreases, so that setting the clock back does not revive an expired token. */
  #now(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#readClock());
    return this.#latestMs;
  }
}

function mint({ owner, scopes, label, expiresAt }: TokenGrant, now: number): { secret: string; token: Token } {
  const secret = mintSecret();
  return { secret, token: { digest: digestSecret(secret), owner, scopes, label, createdAt: now, expiresAt } };
}
