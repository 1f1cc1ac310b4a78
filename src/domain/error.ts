/**
 * All errors of the API. `number` is public and stable: the HTTP status times 100 plus a counter, never reused. The API
 * description and the README contain this table.
 */
export const ERRORS = {
  malformed_json: { number: 40001, meaning: "malformed JSON or UTF-8" },
  invalid_plant: { number: 40002, meaning: "invalid plant" },
  duplicate_id: { number: 40003, meaning: "id already in use" },
  unsupported_content_type: { number: 40004, meaning: "content type is not JSON" },
  body_too_large: { number: 40005, meaning: "body too large" },
  invalid_limit: { number: 40006, meaning: "invalid `limit`" },
  invalid_id: { number: 40007, meaning: "invalid id in the path or `after`" },
  invalid_parameter: { number: 40008, meaning: "invalid query parameter or header" },
  multiple_credentials: { number: 40009, meaning: "multiple credentials" },
  unauthenticated: { number: 40100, meaning: "no bearer token" },
  invalid_token: { number: 40101, meaning: "invalid token" },
  insufficient_scope: { number: 40300, meaning: "insufficient scope" },
  plant_not_found: { number: 40400, meaning: "plant not found" },
  path_not_found: { number: 40401, meaning: "path not found" },
  method_not_allowed: { number: 40500, meaning: "method not allowed" },
  too_many_requests: { number: 42900, meaning: "too many requests" },
  internal: { number: 50000, meaning: "internal error" },
  unavailable: { number: 50300, meaning: "unavailable, retry" },
} as const;

/** The name of an error: a key of {@link ERRORS}. */
export type ErrorCode = keyof typeof ERRORS;

/** Returns the HTTP status of an error number: its first three digits. */
export const statusOf = (errorNumber: number): number => Math.floor(errorNumber / 100);

/** An error of a request. The client receives its `message`; `cause` is only logged. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
