import { ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";

const CODES = new Map<number, ErrorCode>(
  Object.entries(ERRORS).map(([code, { number }]) => [number, code as ErrorCode]),
);

/** An error response: a rejected request (4xx) or a server error (5xx). */
export class PlantStoreError extends Error {
  override readonly name = "PlantStoreError";
  /** Error name, such as `duplicate_id`; `unknown` if the response is not from Plant Store, for example from a proxy. */
  readonly code: ErrorCode | "unknown";
  /** Stable error number of the API; 0 when `code` is `unknown`. */
  readonly number: number;
  /** HTTP status. */
  readonly status: number;
  /** Request id to search for in the server's log. */
  readonly requestId: string | undefined;
  /** Delay that the server requests with `Retry-After`; 0 without the header. */
  readonly retryAfterMs: number;

  /** Creates the error for a response whose status is not a success. */
  constructor(response: Pick<Response, "status" | "headers">, body: string) {
    const parsed = parseError(body, response.status);
    super(parsed?.message ?? `the server returned status ${response.status}`);
    this.number = parsed?.error ?? 0;
    this.code = CODES.get(this.number) ?? "unknown";
    this.status = response.status;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterMs = Number(response.headers.get("retry-after") ?? 0) * 1_000 || 0;
  }
}

/** Parses the `Error` object of the API; `undefined` when the body is not one, as in the error page of a proxy. */
function parseError(body: string, status: number): { error: number; message: string } | undefined {
  try {
    const { error, message } = JSON.parse(body) as { error?: unknown; message?: unknown };
    const isValid = typeof error === "number" && typeof message === "string" && statusOf(error) === status;
    return isValid ? { error, message } : undefined;
  } catch {
    return undefined;
  }
}

/** The server did not respond: it is unreachable or the attempt timed out. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}
