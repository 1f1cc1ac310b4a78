/** Response headers by name. */
export type HeaderFields = Readonly<Record<string, string>>;

/** Makes browsers use only HTTPS with this host for a year (RFC 6797). */
const TRANSPORT_SECURITY = { "Strict-Transport-Security": "max-age=31536000" };

/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = "Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";
const ALLOWED_HEADERS = "Authorization, Content-Type, Idempotency-Key, X-Request-Id";
/** How long browsers may cache a preflight response. Each browser has a lower limit of its own. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/**
 * Returns a function that selects the headers common to all responses. The headers are created once. Browsers let
 * scripts of the `corsOrigins` read the responses.
 */
export function commonHeaders(
  corsOrigins: readonly string[] | undefined,
  isTls: boolean,
): (request: Request) => HeaderFields {
  const always = { "X-Content-Type-Options": "nosniff", ...(isTls ? TRANSPORT_SECURITY : {}) };
  if (corsOrigins === undefined) return () => always;
  const otherOrigin: HeaderFields = { ...always, Vary: "Origin" };
  const byOrigin = new Map<string | null, HeaderFields>(
    corsOrigins.map((origin) => [
      origin,
      { ...otherOrigin, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED_HEADERS },
    ]),
  );
  return (request) => byOrigin.get(request.headers.get("origin")) ?? otherOrigin;
}

/** Returns a route that responds to CORS preflight requests (Fetch standard, 3.3.2). */
export const preflight = (allowedMethods: string) => ({
  operation: "preflight",
  handle: ({ requestId, headers }: { readonly requestId: string; readonly headers: HeaderFields }) =>
    new Response(null, {
      status: 204,
      headers: {
        ...headers,
        "Access-Control-Allow-Methods": allowedMethods,
        "Access-Control-Allow-Headers": ALLOWED_HEADERS,
        "Access-Control-Max-Age": String(PREFLIGHT_MAX_AGE_SECONDS),
        "Cache-Control": "no-store",
        "X-Request-Id": requestId,
      },
    }),
});

/** Whether a request is a CORS preflight request from an allowed origin. */
export const isPreflight = (request: Request, headers: HeaderFields): boolean =>
  request.method === "OPTIONS" &&
  headers["Access-Control-Allow-Origin"] !== undefined &&
  request.headers.has("access-control-request-method");
