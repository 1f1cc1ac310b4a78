import type { Call } from "./call.ts";

/** Nothing but files of this server may load; nothing may frame it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A text of the web pages, revalidated by its hash (RFC 9110, 13.1.2). */
export function asset(content: string, contentType: string): (call: Call) => Response {
  const etag = `"${Bun.hash(content).toString(36)}"`;
  const headers = {
    "Content-Type": contentType,
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    ETag: etag,
  };
  return ({ request, requestId }) => {
    const isKnown = request.headers.get("if-none-match") === etag;
    return new Response(isKnown ? null : content, {
      status: isKnown ? 304 : 200,
      headers: { ...headers, "X-Request-Id": requestId },
    });
  };
}
