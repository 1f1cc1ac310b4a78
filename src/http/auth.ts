import type { BlockList } from "node:net";
import type { AppError } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";
import type { Access, Scope } from "../domain/token.ts";
import { clientAddress, networkOf } from "./client-address.ts";
import { HttpError } from "./errors.ts";
import { type Quota, RateLimiter } from "./rate-limit.ts";

const CHALLENGE = 'Bearer realm="plantstore"';
/**
 * A header that stood twice comes joined with a comma and a space (RFC 9110, 5.3). After a bearer token that can only be
 * a second credential; other schemes use commas themselves.
 */
const SECOND_CREDENTIAL = /^\s*,|^bearer\b.*,(?:\s|$)|,\s*[\w!#$%&'*.^`|~+-]+ +[^\s=,]/i;

// Refusals are made once, and returned, not thrown: a flood of bad tokens then pays for no error, no stack and no way
// back through it, which is a tenth of what each costs (measured 2026-11).
const NO_TOKEN = new HttpError("unauthenticated", "send a token: Authorization: Bearer plt_...", {
  "WWW-Authenticate": CHALLENGE,
});
const INVALID_TOKEN = refusal(
  "invalid_token",
  "the token is malformed, unknown, expired or revoked",
  'error="invalid_token"',
);
const TWO_CREDENTIALS = refusal(
  "multiple_credentials",
  "send one Authorization header with one credential",
  'error="invalid_request"',
);

/** Tells which secrets are good. */
export interface Authenticator {
  /**
   * What a secret gives access to; `undefined` when it is none. A promise only when something else has to be asked.
   * @throws AppError `unavailable`
   */
  authenticate(secret: string): Access | undefined | Promise<Access | undefined>;
}

/** Who may come in, and how often. */
export interface AuthorizerOptions {
  readonly authenticator: Authenticator;
  /** For the requests of one token. */
  readonly requestQuota?: Quota | undefined;
  /** For the invalid tokens of one address. */
  readonly failureQuota?: Quota | undefined;
  /** Whose `X-Forwarded-For` is believed. */
  readonly proxies?: BlockList | undefined;
}

/** What a token gives access to, or why it opens nothing. */
export type AuthResult = Access | AppError;

/** Lets requests in. Comes before anything else about a request. */
export class Authorizer {
  readonly #authenticator: Authenticator;
  readonly #proxies: BlockList | undefined;
  readonly #requests: RateLimiter | undefined;
  readonly #failures: RateLimiter | undefined;
  readonly #peerAddress: (request: Request) => string;

  /** `peerAddress` tells the address at the other end of a request's connection. */
  constructor(options: AuthorizerOptions, peerAddress: (request: Request) => string) {
    this.#authenticator = options.authenticator;
    this.#proxies = options.proxies;
    this.#requests =
      options.requestQuota &&
      new RateLimiter("requests", options.requestQuota, "this token has made too many requests");
    this.#failures =
      options.failureQuota &&
      new RateLimiter("invalid-tokens", options.failureQuota, "too many invalid tokens came from your address");
    this.#peerAddress = peerAddress;
  }

  /**
   * Lets a request in when its bearer token has the scope (RFC 6750), else returns `unauthenticated`, `invalid_token`,
   * `insufficient_scope`, `multiple_credentials` or `too_many_requests`. `nowMs` is the time of `performance.now()`. A
   * promise only when something else has to be asked.
   * @throws AppError `unavailable`
   */
  authorize(request: Request, scope: Scope, nowMs: number): AuthResult | Promise<AuthResult> {
    const secret = bearerSecret(request.headers.get("authorization"));
    if (typeof secret !== "string") return secret;
    const access = this.#authenticator.authenticate(secret);
    return access instanceof Promise
      ? access.then((found) => this.#check(found, request, scope, nowMs))
      : this.#check(access, request, scope, nowMs);
  }

  /**
   * Checks again that a request's token acts for `owner` with `scope`, without counting the request.
   * @throws AppError `invalid_token`, `unavailable`
   */
  async recheck(request: Request, owner: Owner, scope: Scope): Promise<void> {
    const secret = bearerSecret(request.headers.get("authorization"));
    const access = typeof secret === "string" ? await this.#authenticator.authenticate(secret) : undefined;
    if (access?.owner !== owner || !access.scopes.includes(scope)) throw INVALID_TOKEN;
  }

  #check(access: Access | undefined, request: Request, scope: Scope, nowMs: number): AuthResult {
    if (access === undefined) return this.#countFailure(request, nowMs) ?? INVALID_TOKEN;
    // A token of an identity provider is soon followed by the next one: what it is counted by is its owner.
    const tooMany = this.#requests?.take(access.digest ?? access.owner, nowMs);
    if (tooMany !== undefined) return tooMany;
    if (access.scopes.includes(scope)) return access;
    const message = `this needs a token with the scope ${scope}`;
    return refusal("insufficient_scope", message, `error="insufficient_scope", scope="${scope}"`);
  }

  /** Only what is refused is counted by address, and only now: no good token ever waits for another's bad ones. */
  #countFailure(request: Request, nowMs: number): HttpError | undefined {
    return this.#failures?.take(networkOf(clientAddress(request, this.#peerAddress(request), this.#proxies)), nowMs);
  }
}

/** The secret in an `Authorization: Bearer` header; the scheme is case-insensitive. */
function bearerSecret(authorization: string | null): string | HttpError {
  if (authorization === null) return NO_TOKEN;
  // The tokens of identity providers are long: they are looked through once for a comma, and not again.
  if (authorization.includes(",") && SECOND_CREDENTIAL.test(authorization)) return TWO_CREDENTIALS;
  const scheme = /^bearer(?: +|$)/i.exec(authorization);
  return scheme === null ? NO_TOKEN : authorization.slice(scheme[0].length);
}

function refusal(code: HttpError["code"], message: string, reason: string): HttpError {
  return new HttpError(code, message, { "WWW-Authenticate": `${CHALLENGE}, ${reason}` });
}
