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

/** How old a remembered token may be: revocation by another process takes hold within this time. */
const MAX_AGE_MS = 500;
/** Tokens remembered at a time. */
const MAX_REMEMBERED = 10_000;

/** What a new token may do. `expiresAt` is in epoch milliseconds. */
export interface TokenGrant {
  readonly owner: Owner;
  readonly scopes: readonly Scope[];
  readonly label?: string | undefined;
  readonly expiresAt?: number | undefined;
}

/** What a secret stood for. That it was unknown holds too: nobody can have tried a secret before it was minted. */
interface Remembered {
  readonly token: Token | undefined;
  readonly readAtMs: number;
}

/** The rules for tokens: minting, checking and revoking. A secret leaves this class once, when it is minted. */
export class Tokens {
  readonly #storage: Storage;
  readonly #remembered = new Map<string, Remembered>();
  #uses = new Map<string, number>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * The token that a secret stands for; `undefined` when it is malformed, unknown, expired or revoked. A promise only
   * when the database has to be asked.
   * @throws AppError `unavailable`
   */
  authenticate(secret: string): Token | undefined | Promise<Token | undefined> {
    const remembered = this.#remembered.get(secret);
    const isFresh = remembered !== undefined && performance.now() - remembered.readAtMs < MAX_AGE_MS;
    if (isFresh) return this.#admit(remembered.token);
    return isWellFormedSecret(secret) ? this.#lookUp(secret) : undefined;
  }

  /** Mints a token and keeps its digest. */
  async create(grant: TokenGrant): Promise<string> {
    const { secret, token } = mint(grant);
    await this.#storage.insertToken(token);
    return secret;
  }

  /** Mints a token if the database has none yet; `undefined` when it has. */
  async createFirst(grant: TokenGrant): Promise<string | undefined> {
    const { secret, token } = mint(grant);
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
    return token !== undefined && this.#storage.revokeToken(token.digest, Date.now());
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
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(secret, { token, readAtMs });
    return this.#admit(token);
  }

  #admit(token: Token | undefined): Token | undefined {
    const now = Date.now();
    if (token === undefined || !isValid(token, now)) return undefined;
    this.#uses.set(token.digest, now);
    return token;
  }
}

function mint({ owner, scopes, label, expiresAt }: TokenGrant): { secret: string; token: Token } {
  const secret = mintSecret();
  return { secret, token: { digest: digestSecret(secret), owner, scopes, label, createdAt: Date.now(), expiresAt } };
}
