/** Response headers by name. */
export type HeaderFields = Readonly<Record<string, string>>;

/** The headers of a response with a JSON body. */
export const JSON_HEADERS: HeaderFields = { "Content-Type": "application/json" };

/** Combined headers, by the common headers and then by the headers of the response. */
const combinations = new WeakMap<HeaderFields, WeakMap<HeaderFields, Headers>>();

/**
 * Creates a response with the common headers, the request id and `headers`. `Cache-Control` is `no-store` unless `headers`
 * contains another value.
 */
export function respond(
  call: { readonly requestId: string; readonly commonHeaders: HeaderFields },
  status: number,
  body: string | Blob | ReadableStream<Uint8Array> | null,
  headers: HeaderFields = JSON_HEADERS,
): Response {
  const combined = combine(call.commonHeaders, headers);
  // The `Response` constructor copies the headers, so that the cached object can be used for the next response.
  combined.set("X-Request-Id", call.requestId);
  return new Response(body, { status, headers: combined });
}

/** Caches the combinations, because creating `Headers` from objects takes 0.5 µs more (measured 2026-11). */
const combine = (common: HeaderFields, own: HeaderFields): Headers =>
  combinations
    .getOrInsertComputed(common, () => new WeakMap<HeaderFields, Headers>())
    .getOrInsertComputed(own, () => new Headers({ "Cache-Control": "no-store", ...common, ...own }));
