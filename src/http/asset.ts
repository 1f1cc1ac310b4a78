import type { Call } from "./call.ts";
import { loadOnce } from "./load-once.ts";
import { type HeaderFields, respond } from "./response.ts";

/** Allows only resources from this origin, no framing, and no HTML or scripts created from strings (Trusted Types). */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Handles requests for one file. */
export type AssetHandler = (call: Call) => Promise<Response>;

/**
 * Serves content that is loaded on the first request and cached; clients revalidate it (RFC 9110, 13.1.2). `headers`
 * override the default ones.
 */
export function asset(contentType: string, load: () => Promise<string>, headers: HeaderFields = {}): AssetHandler {
  const content = loadOnce(async () => compress(await load()));
  return async (call) => {
    const { plain, gzipped, hash } = await content();
    const { headers: requestHeaders } = call.request;
    const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(requestHeaders.get("accept-encoding") ?? "");
    const etag = `"${hash}${acceptsGzip ? "-gzip" : ""}"`;
    const ifNoneMatch = requestHeaders.get("if-none-match") ?? "";
    // A substring match is safe, because an ETag includes its quotes. It also matches weak ETags (RFC 9110, 13.1.2).
    const isUnchanged = ifNoneMatch === "*" || ifNoneMatch.includes(etag);
    const body = acceptsGzip ? gzipped : plain;
    return respond(call, isUnchanged ? 304 : 200, isUnchanged ? null : body, {
      "Content-Type": contentType,
      ...(acceptsGzip && !isUnchanged ? { "Content-Encoding": "gzip" } : {}),
      "Content-Security-Policy": CONTENT_SECURITY_POLICY,
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cache-Control": "no-cache",
      Vary: ["Accept-Encoding", call.commonHeaders["Vary"]].filter(Boolean).join(", "),
      ETag: etag,
      ...headers,
    });
  };
}

/** Returns Blobs, because responses share their bytes. With any other body, each response holds a copy until it is sent. */
function compress(content: string) {
  const plain = new TextEncoder().encode(content);
  const gzipped = Bun.gzipSync(plain, { level: 9 });
  return { plain: new Blob([plain]), gzipped: new Blob([gzipped]), hash: Bun.hash(plain).toString(36) };
}
