import { AppError, ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";
import { type Call, jsonResponse } from "./call.ts";

/** When it is worth trying again, unless the failure itself knows better. */
const RETRY_LATER: Partial<Record<ErrorCode, Record<string, string>>> = { unavailable: { "Retry-After": "1" } };

/** A failure that also says something in the headers of its response. */
export class HttpError extends AppError {
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, headers: Record<string, string>) {
    super(code, message);
    this.headers = headers;
  }
}

/** What the client may know of whatever was thrown: an `AppError` as it is, anything else as a bland `internal`. */
export function toPublicError(thrown: unknown): AppError {
  if (thrown instanceof AppError && thrown.code !== "internal") return thrown;
  return new AppError("internal", "something went wrong on the server: try again, and report the X-Request-Id", {
    cause: thrown,
  });
}

/** Most failures in a flood are one and the same, answered again. */
const bodies = new WeakMap<AppError, string>();

const bodyOf = ({ code, message }: AppError): string => JSON.stringify({ error: ERRORS[code].number, message });

/** The one shape of every failure: `Error` as JSON, with the headers that go with its code. */
export function errorResponse(call: Pick<Call, "requestId" | "headers">, error: AppError): Response {
  const headers = error instanceof HttpError ? error.headers : RETRY_LATER[error.code];
  return jsonResponse(call, statusOf(ERRORS[error.code].number), bodies.getOrInsertComputed(error, bodyOf), headers);
}
