import { AppError } from "./domain/error.ts";
import type { Owner } from "./domain/plant.ts";
import {
  digestSecret,
  isValid,
  isWellFormedSecret,
  mintSecret,
  type Scope,
  type Token,
  tokenId,
} from "./domain/token.ts";
import type { Storage } from "./storage/storage.ts";

/** The maximum age of a cached token: a revocation by another process takes effect within this time. */
const MAX_AGE_MS = 500;
/** The maximum number of cached tokens, and of cached secrets that stand for none; a cache that is full is cleared. */
const MAX_CACHED = 10_000;
/** The maximum number of unfinished look-ups of secrets that are not in the cache of tokens. */
const MAX_UNKNOWN_LOOKUPS = 1_024;

/** What a new token may do. `expiresAt` is in epoch milliseconds. */
export interface TokenGrant {
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
  readonly label?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** The result of a look-up: `undefined` for a secret that stands for no token. */
interface Cached {
  readonly token: Token | undefined;
  readonly readAtMs: number;
}

/** The rules for tokens: minting, checking and revoking. A secret leaves this class once, when it is minted. */
export class Tokens {
  readonly #storage: Storage;
  /** By secret. Two caches, so that a flood of unknown secrets evicts no token of this database. */
  readonly #known = new Map<string, Cached>();
  readonly #unknown = new Map<string, Cached>();
  #unknownLookups = 0;
  #uses = new Map<string, number>();
  readonly #readClock: () => number;
  #latestMs = 0;

  /** `readClock` tells the time in epoch milliseconds. */
  constructor(storage: Storage, readClock: () => number = Date.now) {
    this.#storage = storage;
    this.#readClock = readClock;
  }

  /**
   * The token that a secret stands for; `undefined` when it is malformed, unknown, expired or revoked. A promise only
   * when the database has to be queried.
   * @throws AppError `unavailable`
   */
  authenticate(secret: string): Token | undefined | Promise<Token | undefined> {
    const cached = this.#known.get(secret) ?? this.#unknown.get(secret);
    const isFresh = cached !== undefined && performance.now() - cached.readAtMs < MAX_AGE_MS;
    if (isFresh) return this.#admit(cached.token);
    if (!isWellFormedSecret(secret)) return undefined;
    return this.#known.has(secret) ? this.#lookUp(secret) : this.#lookUpUnknown(secret);
  }

  /** Mints a token and keeps its digest. */
  async create(grant: TokenGrant): Promise<string> {
    const { secret, token } = mint(grant, this.#readClock());
    await this.#storage.insertToken(token);
    return secret;
  }

  /** Mints a token if the database has none yet; `undefined` when it has. */
  async createFirst(grant: TokenGrant): Promise<string | undefined> {
    const { secret, token } = mint(grant, this.#readClock());
    return (await this.#storage.insertFirstToken(token)) ? secret : undefined;
  }

  /** All tokens, oldest first, revoked and expired ones too. */
  list(): Promise<Token[]> {
    return this.#storage.selectTokens();
  }

  /** Revokes the token with this id or this secret; `false` when there is none that still stands. */
  async revoke(idOrSecret: string): Promise<boolean> {
    const digest = digestSecret(idOrSecret);
    const token = (await this.list()).find((each) => each.digest === digest || tokenId(each) === idOrSecret);
    return token !== undefined && this.#storage.revokeToken(token.digest, this.#readClock());
  }

  /** Writes down when tokens were last used. Meant for a timer: one small write, however many requests there were. */
  async noteUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    await this.#storage.noteTokenUses(uses);
  }

  async #lookUp(secret: string): Promise<Token | undefined> {
    const readAtMs = performance.now();
    const token = await this.#storage.selectToken(digestSecret(secret));
    const [cache, other] = token === undefined ? [this.#unknown, this.#known] : [this.#known, this.#unknown];
    other.delete(secret);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(secret, { token, readAtMs });
    return this.#admit(token);
  }

  /** Bounded, so that a flood of unknown secrets cannot delay the look-ups of tokens in use. */
  async #lookUpUnknown(secret: string): Promise<Token | undefined> {
    if (this.#unknownLookups >= MAX_UNKNOWN_LOOKUPS) {
      throw new AppError("unavailable", "too many tokens are being looked up: try again");
    }
    this.#unknownLookups++;
    try {
      return await this.#lookUp(secret);
    } finally {
      this.#unknownLookups--;
    }
  }

  #admit(token: Token | undefined): Token | undefined {
    const now = this.#now();
    if (token === undefined || !isValid(token, now)) return undefined;
    this.#uses.set(token.digest, now);
    return token;
  }

  /** Never earlier than before: a clock that is set back does not bring an expired token back. */
  #now(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#readClock());
    return this.#latestMs;
  }
}

function mint({ owner, scopes, label, expiresAt }: TokenGrant, now: number): { secret: string; token: Token } {
  const secret = mintSecret();
  return { secret, token: { digest: digestSecret(secret), owner, scopes, label, createdAt: now, expiresAt } };
}
