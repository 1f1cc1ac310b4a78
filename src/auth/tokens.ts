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
import { nonDecreasing } from "./clock.ts";
import { limitConcurrency } from "./limit-concurrency.ts";
import { TokenCache } from "./token-cache.ts";

/** Maximum age of a cached token. A revocation by another process takes effect within this time. */
const MAX_AGE_MS = 500;
/** Maximum total characters of each of the two caches, enough for 10,000 tokens. */
const MAX_CHARACTERS = 400_000;
/** Maximum number of concurrent lookups of secrets that are not in the token cache. */
const MAX_UNKNOWN_LOOKUPS = 1_024;

/** The properties of a new token. `expiresAt` is in epoch milliseconds. */
export interface TokenGrant {
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
  readonly label?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** Creates, authenticates and revokes tokens. Only the methods that create a token return its secret. */
export class Tokens {
  readonly #storage: Storage;
  /** The caches are separate, so that a flood of unknown secrets evicts no tokens. */
  readonly #known = new TokenCache<Token>(MAX_AGE_MS, MAX_CHARACTERS);
  readonly #unknown = new TokenCache<true>(MAX_AGE_MS, MAX_CHARACTERS);
  /** Keeps a flood of unknown secrets from delaying lookups of tokens in use. */
  readonly #limitUnknown = limitConcurrency(MAX_UNKNOWN_LOOKUPS, "too many token lookups are pending: try again");
  /** Last-use times that are not stored yet, by digest. */
  #lastUses = new Map<string, number>();
  readonly #readClock: () => number;
  readonly #now: () => number;

  /** `readClock` returns the time in epoch milliseconds. */
  constructor(storage: Storage, readClock: () => number = Date.now) {
    this.#storage = storage;
    this.#readClock = readClock;
    this.#now = nonDecreasing(readClock);
  }

  /**
   * Returns the token of a secret, or `undefined` if it is malformed, unknown, expired or revoked. Returns a promise
   * only when it queries the database.
   * @throws AppError `unavailable`
   */
  authenticate(secret: string): Token | undefined | Promise<Token | undefined> {
    const token = this.#known.get(secret);
    if (token !== undefined) return this.#useIfValid(token);
    if (this.#unknown.get(secret) || !isWellFormedSecret(secret)) return undefined;
    if (this.#known.has(secret)) return this.#lookUp(secret);
    return this.#limitUnknown(() => this.#lookUp(secret));
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

  /** Stores the last-use times in one write. Call it periodically. */
  async storeLastUses(): Promise<void> {
    if (this.#lastUses.size === 0) return;
    const lastUses = this.#lastUses;
    this.#lastUses = new Map();
    await this.#storage.recordLastUses(lastUses);
  }

  async #lookUp(secret: string): Promise<Token | undefined> {
    const readAtMs = performance.now();
    const token = await this.#storage.selectToken(digestSecret(secret));
    if (token === undefined) this.#unknown.set(secret, true, readAtMs);
    else this.#known.set(secret, token, readAtMs);
    return token && this.#useIfValid(token);
  }

  /** Returns the token and records its use, or returns `undefined` if it is expired or revoked. */
  #useIfValid(token: Token): Token | undefined {
    const now = this.#now();
    if (!isValid(token, now)) return undefined;
    this.#lastUses.set(token.digest, now);
    return token;
  }
}

function mint({ owner, scopes, label, expiresAt }: TokenGrant, now: number): { secret: string; token: Token } {
  const secret = mintSecret();
  return { secret, token: { digest: digestSecret(secret), owner, scopes, label, createdAt: now, expiresAt } };
}
