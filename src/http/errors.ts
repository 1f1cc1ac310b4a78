import { AppError, ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";
import { type HeaderFields, JSON_HEADERS, respond } from "./response.ts";

const UNAVAILABLE_HEADERS: HeaderFields = { ...JSON_HEADERS, "Retry-After": "1" };

/** An error with additional response headers. */
export class HttpError extends AppError {
  readonly headers: HeaderFields;

  constructor(code: ErrorCode, message: string, headers: HeaderFields) {
    super(code, message);
    this.headers = { ...JSON_HEADERS, ...headers };
  }
}

/** Returns the error for the client: an `AppError` unchanged, any other value as an `internal` without details. */
export function toPublicError(thrown: unknown): AppError {
  if (thrown instanceof AppError && thrown.code !== "internal") return thrown;
  return new AppError("internal", "internal server error: try again, and report the X-Request-Id if it persists", {
    cause: thrown,
  });
}

/** Returns the HTTP status of an error. */
export const statusOfError = ({ code }: AppError): number => statusOf(ERRORS[code].number);

/** Returns the headers of an error response. */
function headersOf(error: AppError): HeaderFields {
  if (error instanceof HttpError) return error.headers;
  return error.code === "unavailable" ? UNAVAILABLE_HEADERS : JSON_HEADERS;
}

/** Response bodies by error. During overload, most responses share one error. */
const bodies = new WeakMap<AppError, string>();

const bodyOf = ({ code, message }: AppError): string => JSON.stringify({ error: ERRORS[code].number, message });

/** Creates an error response: `Error` as JSON, with the headers of the error or of its code. */
export function errorResponse(call: Parameters<typeof respond>[0], error: AppError): Response {
  return respond(call, statusOfError(error), bodies.getOrInsertComputed(error, bodyOf), headersOf(error));
}
