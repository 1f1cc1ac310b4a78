import type { Call } from "./call.ts";
import { type HeaderFields, respond } from "./response.ts";

/** Makes browsers use only HTTPS with this host for a year (RFC 6797). */
const TRANSPORT_SECURITY = { "Strict-Transport-Security": "max-age=31536000" };

/** Response headers that scripts of other origins may read. */
const EXPOSED_HEADERS = "Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";
const ALLOWED_HEADERS = "Authorization, Content-Type, Idempotency-Key, X-Request-Id";
/** Time for which browsers may cache a preflight response. Browsers also apply their own limits. */
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/**
 * Returns a function that selects the headers common to all responses. The headers are created once. Browsers let
 * scripts of the `corsOrigins` read the responses.
 */
export function commonHeaders(
  corsOrigins: readonly string[] | undefined,
  isTls: boolean,
): (request: Request) => HeaderFields {
  const sameOrigin = { "X-Content-Type-Options": "nosniff", ...(isTls ? TRANSPORT_SECURITY : {}) };
  if (corsOrigins === undefined) return () => sameOrigin;
  const otherOrigin: HeaderFields = { ...sameOrigin, Vary: "Origin" };
  const byOrigin = new Map<string | null, HeaderFields>(
    corsOrigins.map((origin) => [
      origin,
      { ...otherOrigin, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED_HEADERS },
    ]),
  );
  return (request) => byOrigin.get(request.headers.get("origin")) ?? otherOrigin;
}

/** Returns whether a request is a CORS preflight request from an allowed origin (Fetch standard, 3.3.2). */
export const isPreflight = ({ request, commonHeaders }: Call): boolean =>
  request.method === "OPTIONS" &&
  commonHeaders["Access-Control-Allow-Origin"] !== undefined &&
  request.headers.has("access-control-request-method");

/** Responds to a CORS preflight request. */
export const respondToPreflight = (call: Call, allowedMethods: string): Response =>
  respond(call, 204, null, {
    "Access-Control-Allow-Methods": allowedMethods,
    "Access-Control-Allow-Headers": ALLOWED_HEADERS,
    "Access-Control-Max-Age": String(PREFLIGHT_MAX_AGE_SECONDS),
  });
