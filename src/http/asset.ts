import type { Call } from "./call.ts";

/** Nothing but this server's own files may load, and nobody may frame them. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Answers a request for one file. */
export type AssetHandler = (call: Call) => Promise<Response>;

/** What is said of an asset besides its type and content. */
export interface AssetOptions {
  /** Whether its name changes with its content, so that a client may keep it for ever. */
  readonly isHashed?: boolean;
  /** More for its `Content-Security-Policy`. */
  readonly policy?: string;
}

interface Content {
  // Blobs, because all responses share their bytes: of any other body each response holds a copy until it is sent.
  readonly plain: Blob;
  readonly gzipped: Blob;
  readonly hash: string;
}

/** Serves content that is loaded at the first request for it and kept; clients revalidate it (RFC 9110, 13.1.2). */
export function asset(
  contentType: string,
  load: () => Promise<string | Uint8Array<ArrayBuffer>>,
  { isHashed = false, policy = "" }: AssetOptions = {},
): AssetHandler {
  let loading: Promise<Content> | undefined;
  return async ({ request, requestId, headers }) => {
    loading ??= load().then(prepare);
    const { plain, gzipped, hash } = await loading.catch((error) => {
      loading = undefined;
      throw error;
    });
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get("accept-encoding") ?? "");
    const etag = `"${hash}${takesGzip ? "-gzip" : ""}"`;
    const ifNoneMatch = request.headers.get("if-none-match") ?? "";
    // An ETag includes its quotes, so it cannot be part of another one. Matches a weak one too (RFC 9110, 13.1.2).
    const isKnown = ifNoneMatch === "*" || ifNoneMatch.includes(etag);
    const body = takesGzip ? gzipped : plain;
    return new Response(isKnown ? null : body, {
      status: isKnown ? 304 : 200,
      headers: {
        ...headers,
        "Content-Type": contentType,
        ...(takesGzip && !isKnown ? { "Content-Encoding": "gzip" } : {}),
        "Content-Security-Policy": CONTENT_SECURITY_POLICY + policy,
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

function prepare(content: string | Uint8Array<ArrayBuffer>): Content {
  const plain = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const gzipped = Bun.gzipSync(plain, { level: 9 });
  return { plain: new Blob([plain]), gzipped: new Blob([gzipped]), hash: Bun.hash(plain).toString(36) };
}
