import { randomBytes } from "node:crypto";
import type { AppError } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";
import type { Scope } from "../domain/token.ts";
import type { Authorizer } from "./authorizer.ts";
import { statusOfError, toPublicError } from "./errors.ts";
import type { HeaderFields } from "./response.ts";

/** A response that has begun or was aborted, for metrics, logs and spans. */
export interface ResponseEvent {
  readonly call: Call;
  /** The operation of its route, such as `createPlant` or `livez`; `none` if no route matches. */
  readonly operation: string;
  readonly status: number;
  /** Milliseconds since the request was received. */
  readonly durationMs: number;
  readonly error: AppError | undefined;
  /** Whether the error aborted the response after it had begun with another status. */
  readonly isAborted: boolean;
}

/** The context of one request. */
export class Call {
  readonly request: Bun.BunRequest;
  /** The client's `X-Request-Id`, or a generated one. */
  readonly requestId: string;
  /** Headers that every response has. */
  readonly commonHeaders: HeaderFields;
  /** Time of `performance.now()`. */
  readonly startedMs = performance.now();
  operation = "none";
  /** The owner that the token acts for; empty on public routes. */
  owner: Owner = "";
  readonly #authorizer: Authorizer;
  readonly #onResponse: (event: ResponseEvent) => void;
  #scope: Scope | undefined;

  constructor(
    request: Bun.BunRequest,
    commonHeaders: HeaderFields,
    authorizer: Authorizer,
    onResponse: (event: ResponseEvent) => void,
  ) {
    this.request = request;
    this.requestId = requestIdOf(request);
    this.commonHeaders = commonHeaders;
    this.#authorizer = authorizer;
    this.#onResponse = onResponse;
  }

  get isAuthorized(): boolean {
    return this.#scope !== undefined;
  }

  /** Marks the request as authorized. */
  grant(owner: Owner, scope: Scope): void {
    this.owner = owner;
    this.#scope = scope;
  }

  /**
   * Checks the token again, because it may have expired or been revoked since the request began.
   * @throws AppError `invalid_token`, `unavailable`
   */
  async recheck(): Promise<void> {
    if (this.#scope !== undefined) await this.#authorizer.recheck(this.request, this.owner, this.#scope);
  }

  /** Reports the error that aborted the response after its status was sent. */
  reportAbort(thrown: unknown): void {
    const error = toPublicError(thrown);
    this.report(statusOfError(error), error, true);
  }

  /** Reports a response. */
  report(status: number, error: AppError | undefined, isAborted = false): void {
    const durationMs = performance.now() - this.startedMs;
    this.#onResponse({ call: this, operation: this.operation, status, durationMs, error, isAborted });
  }
}

/** In visible ASCII characters. */
export const REQUEST_ID_MAX_LENGTH = 128;
const PROCESS_ID = randomBytes(6).toString("base64url");
let callCount = 0;

/** Returns the client's `X-Request-Id` if it is valid, otherwise a new one that is unique across processes. */
function requestIdOf(request: Request): string {
  const clientId = request.headers.get("x-request-id");
  return clientId !== null && isVisibleAscii(clientId, REQUEST_ID_MAX_LENGTH)
    ? clientId
    : `${PROCESS_ID}-${(++callCount).toString(36)}`;
}

/** Returns whether a header value is 1 to `maxLength` visible ASCII characters, without spaces or control characters. */
export function isVisibleAscii(value: string, maxLength: number): boolean {
  return value.length <= maxLength && /^[\x21-\x7e]+$/.test(value);
}
