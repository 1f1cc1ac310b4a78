import { type AppError, ERRORS, statusOf } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";
import type { Scope } from "../domain/token.ts";
import type { Authorizer } from "./auth.ts";
import { type Call, requestIdOf } from "./call.ts";
import type { HeaderFields } from "./common-headers.ts";
import { toPublicError } from "./errors.ts";

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

/** A request in progress, with the state that its response events report. */
export class ActiveCall implements Call {
  readonly request: Bun.BunRequest;
  readonly requestId: string;
  readonly headers: HeaderFields;
  owner = "";
  operation = "none";
  readonly startedMs = performance.now();
  readonly #authorizer: Authorizer;
  readonly #onResponse: (event: ResponseEvent) => void;
  #scope: Scope | undefined;

  constructor(
    request: Bun.BunRequest,
    headers: HeaderFields,
    authorizer: Authorizer,
    onResponse: (event: ResponseEvent) => void,
  ) {
    this.request = request;
    this.requestId = requestIdOf(request);
    this.headers = headers;
    this.#authorizer = authorizer;
    this.#onResponse = onResponse;
  }

  grant(owner: Owner, scope: Scope): void {
    this.owner = owner;
    this.#scope = scope;
  }

  get isAuthenticated(): boolean {
    return this.#scope !== undefined;
  }

  async recheck(): Promise<void> {
    if (this.#scope !== undefined) await this.#authorizer.recheck(this.request, this.owner, this.#scope);
  }

  onAbort(thrown: unknown): void {
    const error = toPublicError(thrown);
    this.report(statusOf(ERRORS[error.code].number), error, true);
  }

  report(status: number, error: AppError | undefined, isAborted: boolean): void {
    const durationMs = performance.now() - this.startedMs;
    this.#onResponse({ call: this, operation: this.operation, status, durationMs, error, isAborted });
  }
}
