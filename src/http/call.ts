import { randomBytes } from "node:crypto";
import type { Owner } from "../domain/plant.ts";
import type { HeaderFields } from "./common-headers.ts";

/** The context of one request. */
export interface Call {
  readonly request: Bun.BunRequest;
  /** The client's `X-Request-Id`, or a generated one. */
  readonly requestId: string;
  /** The owner that the token acts for; empty on public routes. */
  readonly owner: Owner;
  /** Headers that every response has. */
  readonly headers: HeaderFields;
  /**
   * Checks the token again, because it may have expired or been revoked since the request began.
   * @throws AppError `invalid_token`, `unavailable`
   */
  recheck(): Promise<void>;
  /** Reports the error that aborted the response after its status was sent. */
  onAbort(thrown: unknown): void;
}

/** In visible ASCII characters. */
export const REQUEST_ID_MAX_LENGTH = 128;
const PROCESS_ID = randomBytes(6).toString("base64url");
let callCount = 0;

/** Returns the client's `X-Request-Id` if it is valid, otherwise a new one that is unique across processes. */
export function requestIdOf(request: Request): string {
  const own = request.headers.get("x-request-id");
  return own !== null && isVisibleAscii(own, REQUEST_ID_MAX_LENGTH)
    ? own
    : `${PROCESS_ID}-${(++callCount).toString(36)}`;
}

/** Whether a header value is 1 to `maxLength` visible ASCII characters, without spaces or control characters. */
export function isVisibleAscii(value: string, maxLength: number): boolean {
  return value.length <= maxLength && /^[\x21-\x7e]+$/.test(value);
}

/** Creates an API response with a JSON text or stream as its body. HTTP caches must not store it. */
export function jsonResponse(
  call: Pick<Call, "requestId" | "headers">,
  status: number,
  body: string | ReadableStream<Uint8Array>,
  headers: HeaderFields = NO_HEADERS,
): Response {
  const prepared = prepare(call.headers, headers);
  prepared.set("X-Request-Id", call.requestId);
  return new Response(body, { status, headers: prepared });
}

const NO_HEADERS: HeaderFields = {};

/** By the common headers, then by the additional headers. */
const preparedHeaders = new WeakMap<HeaderFields, WeakMap<HeaderFields, Headers>>();

/**
 * Returns the headers of a JSON response except the request id. The caller sets the id, and the `Response` constructor
 * copies the headers at once. They are cached, because building them from objects takes 0.5 µs more (measured 2026-11).
 */
const prepare = (common: HeaderFields, additional: HeaderFields): Headers =>
  preparedHeaders
    .getOrInsertComputed(common, () => new WeakMap<HeaderFields, Headers>())
    .getOrInsertComputed(additional, () => {
      const always = { "Content-Type": "application/json", "Cache-Control": "no-store" };
      return new Headers({ ...always, ...common, ...additional });
    });
