import type { BlockList } from "node:net";
import type { Authenticator } from "../auth/authenticator.ts";
import type { AppError } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";
import type { Access, Scope } from "../domain/token.ts";
import { clientAddress, networkOf } from "./client-address.ts";
import { HttpError } from "./errors.ts";
import { type Quota, RateLimiter } from "./rate-limit.ts";

const CHALLENGE = 'Bearer realm="plantstore"';
/**
 * Matches two credentials: repeated headers arrive joined with a comma and a space (RFC 9110, 5.3). After a bearer
 * token, that can only be a second credential. Other schemes contain commas themselves.
 */
const SECOND_CREDENTIAL = /^\s*,|^bearer\b.*,(?:\s|$)|,\s*[\w!#$%&'*.^`|~+-]+ +[^\s=,]/i;

// These errors are created once and returned instead of thrown. Creating, throwing and catching one for each request
// would be a tenth of the cost of rejecting an invalid token (measured 2026-11).
const NO_TOKEN = new HttpError("unauthenticated", "a bearer token is required: send Authorization: Bearer plt_...", {
  "WWW-Authenticate": CHALLENGE,
});
const INVALID_TOKEN = challenge(
  "invalid_token",
  "the token is malformed, unknown, expired or revoked",
  'error="invalid_token"',
);
const MULTIPLE_CREDENTIALS = challenge(
  "multiple_credentials",
  "send one Authorization header with one credential",
  'error="invalid_request"',
);

/** Options of {@link Authorizer}. */
export interface AuthorizerOptions {
  readonly authenticator: Authenticator;
  /** The rate limit for requests per token. */
  readonly requestQuota?: Quota | undefined;
  /** The rate limit for invalid tokens per client address. */
  readonly failureQuota?: Quota | undefined;
  /** Trusted proxies: the addresses whose `X-Forwarded-For` is used. */
  readonly proxies?: BlockList | undefined;
}

/** The access that a token grants, or the error to respond with. */
export type AuthResult = Access | AppError;

/** Authenticates and authorizes requests, and applies the rate limits. Runs before every other check on a route. */
export class Authorizer {
  readonly #authenticator: Authenticator;
  readonly #proxies: BlockList | undefined;
  readonly #requests: RateLimiter | undefined;
  readonly #failures: RateLimiter | undefined;
  readonly #peerAddress: (request: Request) => string;

  /** `peerAddress` returns the remote address of a request's connection. */
  constructor(options: AuthorizerOptions, peerAddress: (request: Request) => string) {
    this.#authenticator = options.authenticator;
    this.#proxies = options.proxies;
    this.#requests =
      options.requestQuota && new RateLimiter("requests", options.requestQuota, "too many requests with this token");
    this.#failures =
      options.failureQuota &&
      new RateLimiter("invalid-tokens", options.failureQuota, "too many invalid tokens from your address");
    this.#peerAddress = peerAddress;
  }

  /**
   * Returns the access of a request whose bearer token has the scope (RFC 6750). Otherwise returns `unauthenticated`,
   * `invalid_token`, `insufficient_scope`, `multiple_credentials` or `too_many_requests`. `nowMs` is the time of
   * `performance.now()`. Returns a promise only when authentication needs I/O.
   * @throws AppError `unavailable`
   */
  authorize(request: Request, scope: Scope, nowMs: number): AuthResult | Promise<AuthResult> {
    const secret = bearerSecret(request.headers.get("authorization"));
    if (typeof secret !== "string") return secret;
    const access = this.#authenticator.authenticate(secret);
    return access instanceof Promise
      ? access.then((granted) => this.#check(granted, request, scope, nowMs))
      : this.#check(access, request, scope, nowMs);
  }

  /**
   * Checks again that a request's token acts for `owner` with `scope`. Does not count toward the rate limit.
   * @throws AppError `invalid_token`, `unavailable`
   */
  async recheck(request: Request, owner: Owner, scope: Scope): Promise<void> {
    const secret = bearerSecret(request.headers.get("authorization"));
    const access = typeof secret === "string" ? await this.#authenticator.authenticate(secret) : undefined;
    if (access?.owner !== owner || !access.scopes.includes(scope)) throw INVALID_TOKEN;
  }

  #check(access: Access | undefined, request: Request, scope: Scope, nowMs: number): AuthResult {
    if (access === undefined) return this.#countFailure(request, nowMs) ?? INVALID_TOKEN;
    // Tokens of an identity provider are short-lived, so their requests are counted per owner.
    const limitError = this.#requests?.take(access.digest ?? access.owner, nowMs);
    if (limitError !== undefined) return limitError;
    if (access.scopes.includes(scope)) return access;
    const message = `the token must have the scope ${scope}`;
    return challenge("insufficient_scope", message, `error="insufficient_scope", scope="${scope}"`);
  }

  /** Counts an invalid token for its address. Valid tokens never check this limit, so they work during an attack. */
  #countFailure(request: Request, nowMs: number): HttpError | undefined {
    return this.#failures?.take(networkOf(clientAddress(request, this.#peerAddress(request), this.#proxies)), nowMs);
  }
}

/** Returns the secret of an `Authorization: Bearer` header, or an error. The scheme is case-insensitive. */
function bearerSecret(authorization: string | null): string | HttpError {
  if (authorization === null) return NO_TOKEN;
  // Tokens of identity providers are long, so the expression runs only when there is a comma.
  if (authorization.includes(",") && SECOND_CREDENTIAL.test(authorization)) return MULTIPLE_CREDENTIALS;
  const scheme = /^bearer(?: +|$)/i.exec(authorization);
  return scheme === null ? NO_TOKEN : authorization.slice(scheme[0].length);
}

function challenge(code: HttpError["code"], message: string, reason: string): HttpError {
  return new HttpError(code, message, { "WWW-Authenticate": `${CHALLENGE}, ${reason}` });
}
