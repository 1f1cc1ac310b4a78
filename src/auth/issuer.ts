import { type JWTPayload, jwtVerify } from "jose";
import { AppError } from "../domain/error.ts";
import { type Access, isPlainText, OWNER_MAX_LENGTH, SCOPES } from "../domain/token.ts";
import { nonDecreasing } from "./clock.ts";
import { ALGORITHMS, KeySet } from "./key-set.ts";
import { TokenCache } from "./token-cache.ts";

/** Tolerated clock skew between the provider and this server. */
const CLOCK_TOLERANCE_SECONDS = 10;
/** Maximum length of a token in characters. */
const MAX_LENGTH = 8_192;
/** Maximum time for which a verified token is cached. */
const CACHE_MS = 60_000;
/** Maximum total characters of cached tokens. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** Options of {@link Issuer}. */
export interface IssuerOptions {
  /** The required `iss` claim. */
  readonly issuer: string;
  /** The required `aud` claim, or a required element of it. */
  readonly audience: string;
  /** URL of the provider's JWK Set. */
  readonly jwksUrl: string;
  /** The claim that contains the owner's name. */
  readonly ownerClaim: string;
  /** Prefix of the owner's name, which separates these owners from the owners of other tokens. */
  readonly ownerPrefix: string;
  /** Called when the keys cannot be fetched, and not again until a fetch has succeeded. */
  readonly onKeysUnavailable?: (error: AppError) => void;
}

interface VerifiedToken {
  readonly access: Access;
  /** In epoch milliseconds. */
  readonly expiresAtMs: number;
}

/** Authenticates tokens of an identity provider (JWT, RFC 7519), which name the owner and the scopes. */
export class Issuer {
  readonly #options: IssuerOptions;
  readonly #keys: KeySet;
  readonly #cache = new TokenCache<VerifiedToken>(CACHE_MS, MAX_CHARACTERS);
  readonly #now = nonDecreasing(Date.now);

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#keys = new KeySet(options.jwksUrl, (error) => options.onKeysUnavailable?.(error));
  }

  /**
   * Returns the access that a token grants, or `undefined` when it is malformed, expired, not signed by the provider, or
   * issued for another audience. Returns a promise unless the token is cached or malformed.
   * @throws AppError `unavailable` when its key is not cached and cannot be fetched
   */
  authenticate(token: string): Access | undefined | Promise<Access | undefined> {
    const cached = this.#cache.get(token);
    if (cached !== undefined && this.#now() < cached.expiresAtMs) return cached.access;
    return token.length <= MAX_LENGTH && isCompactJws(token) ? this.#authenticate(token) : undefined;
  }

  async #authenticate(token: string): Promise<Access | undefined> {
    const payload = await this.#verify(token);
    if (payload === undefined) return undefined;
    const access = this.#accessOf(payload);
    if (access !== undefined) {
      this.#cache.set(token, { access, expiresAtMs: Number(payload.exp) * 1_000 }, performance.now());
    }
    return access;
  }

  async #verify(token: string): Promise<JWTPayload | undefined> {
    const { issuer, audience } = this.#options;
    try {
      const { payload } = await jwtVerify(token, this.#keys.find, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        requiredClaims: ["exp"],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: new Date(this.#now()),
      });
      return payload;
    } catch (error) {
      if (error instanceof AppError) throw error;
      // Not only JOSEErrors: jose also throws TypeErrors, and WebCrypto DOMExceptions.
      return undefined;
    }
  }

  #accessOf(payload: JWTPayload): Access | undefined {
    const claim = payload[this.#options.ownerClaim];
    if (typeof claim !== "string" || claim === "") return undefined;
    const owner = this.#options.ownerPrefix + claim;
    if (!isPlainText(owner, OWNER_MAX_LENGTH)) return undefined;
    // RFC 9068 defines `scope`, a space-separated string; some providers send `scp`, a string or an array.
    const granted = payload["scope"] ?? payload["scp"];
    const words: unknown = typeof granted === "string" ? granted.split(" ") : granted;
    return { owner, scopes: SCOPES.filter((scope) => Array.isArray(words) && words.includes(scope)) };
  }
}

/**
 * Whether a token is a signed JWS in compact serialization (RFC 7515, section 7.1). Its parts must be canonical
 * base64url: jose's decoder ignores white space, padding and unused trailing bits, so one token would have many
 * encodings.
 */
function isCompactJws(token: string): boolean {
  const parts = token.split(".", 4);
  return parts.length === 3 && parts.every(isCanonicalBase64url);
}

const isCanonicalBase64url = (text: string): boolean =>
  text !== "" && Buffer.from(text, "base64url").toString("base64url") === text;
