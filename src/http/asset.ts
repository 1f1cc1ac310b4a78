import type { Call } from "./call.ts";

/** Nothing but this server's own files may load, and nobody may frame them. `data:` is for Swagger UI's icons. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface Content {
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  readonly hash: string;
}

/** Serves content that is loaded at the first request for it and kept; clients revalidate it (RFC 9110, 13.1.2). */
export function asset(
  contentType: string,
  load: () => Promise<Uint8Array<ArrayBuffer>>,
): (call: Call) => Promise<Response> {
  let loading: Promise<Content> | undefined;
  return async ({ request, requestId, headers }) => {
    loading ??= load().then(prepare);
    const { plain, gzipped, hash } = await loading.catch((error) => {
      loading = undefined;
      throw error;
    });
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers.get("accept-encoding") ?? "");
    const etag = `"${hash}${takesGzip ? "-gzip" : ""}"`;
    const isKnown = (request.headers.get("if-none-match") ?? "")
      .split(/\s*,\s*/)
      .some((tag) => tag === etag || tag === "*");
    const body = takesGzip ? gzipped : plain;
    return new Response(isKnown ? null : body, {
      status: isKnown ? 304 : 200,
      headers: {
        ...headers,
        "Content-Type": contentType,
        ...(takesGzip && !isKnown ? { "Content-Encoding": "gzip" } : {}),
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
        Vary: headers["Vary"] === undefined ? "Accept-Encoding" : `Accept-Encoding, ${headers["Vary"]}`,
        ETag: etag,
        "X-Request-Id": requestId,
      },
    });
  };
}

/** {@link asset} for a file, of the type that its name tells. */
export function fileAsset(path: string): (call: Call) => Promise<Response> {
  const file = Bun.file(path);
  return asset(file.type, () => file.bytes());
}

function prepare(plain: Uint8Array<ArrayBuffer>): Content {
  return { plain, gzipped: Bun.gzipSync(plain), hash: Bun.hash(plain).toString(36) };
}
