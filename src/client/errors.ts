import { ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";

const CODES = new Map<number, ErrorCode>(
  Object.entries(ERRORS).map(([code, { number }]) => [number, code as ErrorCode]),
);

/** A request that the server refused, or could not answer. */
export class PlantStoreError extends Error {
  override readonly name = "PlantStoreError";
  /** What went wrong, by name: `duplicate_id`, `invalid_token`... `unknown` when it was no Plant Store that answered. */
  readonly code: ErrorCode | "unknown";
  /** The stable error number of the API; 0 when it was no Plant Store that answered. */
  readonly number: number;
  /** The HTTP status. */
  readonly status: number;
  /** What to look for in the server's log. */
  readonly requestId: string | undefined;
  /** How long the server asks to wait before the next attempt. */
  readonly retryAfterMs: number;

  /** The error that a response stands for which is no success. */
  constructor(response: Pick<Response, "status" | "headers">, body: string) {
    const ours = parseError(body, response.status);
    super(ours?.message ?? `the server answered with the status ${response.status}`);
    this.number = ours?.error ?? 0;
    this.code = CODES.get(this.number) ?? "unknown";
    this.status = response.status;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterMs = Number(response.headers.get("retry-after") ?? 0) * 1_000 || 0;
  }
}

/** The `Error` of the API in a body; `undefined` when something else has answered, a proxy perhaps. */
function parseError(body: string, status: number): { error: number; message: string } | undefined {
  try {
    const { error, message } = JSON.parse(body) as { error?: unknown; message?: unknown };
    const isOurs = typeof error === "number" && typeof message === "string" && statusOf(error) === status;
    return isOurs ? { error, message } : undefined;
  } catch {
    return undefined;
  }
}

/** No answer came: the server cannot be reached, or was too slow. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}
