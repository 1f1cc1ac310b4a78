import type { Route } from "./routes.ts";

/** Headers of a response, by name. */
export type HeaderFields = Readonly<Record<string, string>>;

/** For a browser that has spoken TLS with this host: a year without asking for less (RFC 6797). */
const TRANSPORT_SECURITY = { "Strict-Transport-Security": "max-age=31536000" };

/** What a script may read of a response besides its body. */
const EXPOSED = "Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id";
const REQUEST_HEADERS = "Authorization, Content-Type, Idempotency-Key, X-Request-Id";
/** Browsers ask again sooner, each after a time of its own. */
const PREFLIGHT_SECONDS = 86_400;

/**
 * A function that tells which headers every answer to a request has. They are made once: it only chooses. Scripts of
 * the `corsOrigins` may read the answers in a browser.
 */
export function commonHeaders(
  corsOrigins: readonly string[] | undefined,
  isTls: boolean,
): (request: Request) => HeaderFields {
  const always = { "X-Content-Type-Options": "nosniff", ...(isTls ? TRANSPORT_SECURITY : {}) };
  if (corsOrigins === undefined) return () => always;
  const elsewhere: HeaderFields = { ...always, Vary: "Origin" };
  const byOrigin = new Map<string | null, HeaderFields>(
    corsOrigins.map((origin) => [
      origin,
      { ...elsewhere, "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED },
    ]),
  );
  return (request) => byOrigin.get(request.headers.get("origin")) ?? elsewhere;
}

/** Answers the question that a browser asks before a script's request, for an origin that may make it (Fetch, 3.3.2). */
export const preflight = (allowedMethods: string): Omit<Route, "path" | "method"> => ({
  operation: "preflight",
  handle: ({ requestId, headers }) =>
    new Response(null, {
      status: 204,
      headers: {
        ...headers,
        "Access-Control-Allow-Methods": allowedMethods,
        "Access-Control-Allow-Headers": REQUEST_HEADERS,
        "Access-Control-Max-Age": String(PREFLIGHT_SECONDS),
        "Cache-Control": "no-store",
        "X-Request-Id": requestId,
      },
    }),
});

/** Whether a request is such a question, and its origin may ask it. */
export const isPreflight = (request: Request, headers: HeaderFields): boolean =>
  request.method === "OPTIONS" &&
  headers["Access-Control-Allow-Origin"] !== undefined &&
  request.headers.has("access-control-request-method");
