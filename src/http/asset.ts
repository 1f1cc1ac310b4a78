import type { Call } from "./call.ts";

/** Allows only resources from this origin, no framing, and no HTML or scripts created from strings (Trusted Types). */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** Handles requests for one file. */
export type AssetHandler = (call: Call) => Promise<Response>;

/** Options of {@link asset}. */
export interface AssetOptions {
  /** Whether the file name contains a content hash, so that clients may cache the file as immutable. */
  readonly isHashed?: boolean;
}

interface Content {
  // All responses share the bytes of a Blob. With any other body, each response holds a copy until it is sent.
  readonly plain: Blob;
  readonly gzipped: Blob;
  readonly hash: string;
}

/** Serves content that is loaded on the first request and kept; clients revalidate it (RFC 9110, 13.1.2). */
export function asset(
  contentType: string,
  load: () => Promise<string>,
  { isHashed = false }: AssetOptions = {},
): AssetHandler {
  let loading: Promise<Content> | undefined;
  return async ({ request, requestId, headers }) => {
    loading ??= load().then(prepare);
    const { plain, gzipped, hash } = await loading.catch((error) => {
      loading = undefined;
      throw error;
    });
    const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get("accept-encoding") ?? "");
    const etag = `"${hash}${acceptsGzip ? "-gzip" : ""}"`;
    const ifNoneMatch = request.headers.get("if-none-match") ?? "";
    // A substring match is safe, because an ETag includes its quotes. It also matches weak ETags (RFC 9110, 13.1.2).
    const isUnchanged = ifNoneMatch === "*" || ifNoneMatch.includes(etag);
    const body = acceptsGzip ? gzipped : plain;
    return new Response(isUnchanged ? null : body, {
      status: isUnchanged ? 304 : 200,
      headers: {
        ...headers,
        "Content-Type": contentType,
        ...(acceptsGzip && !isUnchanged ? { "Content-Encoding": "gzip" } : {}),
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": isHashed ? "public, max-age=31536000, immutable" : "no-cache",
        Vary: headers["Vary"] === undefined ? "Accept-Encoding" : `Accept-Encoding, ${headers["Vary"]}`,
        ETag: etag,
        "X-Request-Id": requestId,
      },
    });
  };
}

function prepare(content: string): Content {
  const plain = new TextEncoder().encode(content);
  const gzipped = Bun.gzipSync(plain, { level: 9 });
  return { plain: new Blob([plain]), gzipped: new Blob([gzipped]), hash: Bun.hash(plain).toString(36) };
}
