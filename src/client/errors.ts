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

  private constructor(response: Response, number: number, message: string) {
    super(message);
    this.code = CODES.get(number) ?? "unknown";
    this.number = number;
    this.status = response.status;
    this.requestId = response.headers.get("x-request-id") ?? undefined;
    this.retryAfterMs = Number(response.headers.get("retry-after") ?? 0) * 1_000 || 0;
  }

  /** The error that a response stands for which is no success. */
  static async from(response: Response): Promise<PlantStoreError> {
    const body: unknown = await response.json().catch(() => undefined);
    const { error, message } = (body ?? {}) as { error?: unknown; message?: unknown };
    const isOurs = typeof error === "number" && typeof message === "string" && statusOf(error) === response.status;
    return isOurs
      ? new PlantStoreError(response, error, message)
      : new PlantStoreError(response, 0, `the server answered with the status ${response.status}`);
  }
}

/** No answer came: the server cannot be reached, or was too slow. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}
