import { AppError, ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";
import { type Call, json } from "./call.ts";

const IN_A_SECOND = { "Retry-After": "1" };
/** When it is worth trying again. */
const RETRY_LATER: Partial<Record<ErrorCode, Record<string, string>>> = {
  unavailable: IN_A_SECOND,
  too_many_requests: IN_A_SECOND,
};

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

/** The one shape of every failure: `Error` as JSON, with the headers that go with its code. */
export function errorResponse(call: Pick<Call, "requestId">, error: AppError): Response {
  const { number } = ERRORS[error.code];
  const body = JSON.stringify({ error: number, message: error.message });
  return json(call, statusOf(number), body, error instanceof HttpError ? error.headers : RETRY_LATER[error.code]);
}
