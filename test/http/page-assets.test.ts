import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { gunzipSync } from "node:zlib";
import { type Service, startService } from "../support/service.ts";

/** Maximum compressed size of the page's scripts and styles. */
const MAX_COMPRESSED_BYTES = 60_000;

let service: Service;
let document: string;
let assets: string[];
beforeAll(async () => {
  service = await startService();
  document = await (await get("/")).text();
  assets = [...document.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
});
afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(service.url + path, { method, headers: { "Accept-Encoding": "identity", ...headers } });
const PAGES = ["/", "/docs", "/openapi.json"];

describe("page assets", () => {
  it("are revalidated with an ETag when their names have no hash", async () => {
    for (const path of PAGES) {
      const { headers } = await get(path);
      expect([path, headers.get("cache-control")]).toEqual([path, "no-cache"]);
      const etag = headers.get("etag") ?? "";
      for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, `"x" , W/${etag},"y"`, "*"]) {
        const again = await get(path, { "If-None-Match": ifNoneMatch });
        expect([path, again.status, await again.text(), again.headers.get("etag")]).toEqual([path, 304, "", etag]);
      }
      expect((await get(path, { "If-None-Match": '"x"' })).status).toBe(200);
      expect((await get(path, { "If-None-Match": etag.slice(1, -1) })).status).toBe(200);
    }
  });

  it("are immutable when their names have a hash", async () => {
    expect(assets.map((path) => path.replace(/^.*\./, "")).sort()).toEqual(["css", "js", "svg"]);
    for (const path of assets) {
      const { status, headers } = await get(path);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
      expect(path).toMatch(/^\/assets\/[\w.-]+-[0-9a-z]{8}\.\w+$/);
    }
  });

  it("are compressed with gzip when the client accepts it, with an ETag for each encoding", async () => {
    for (const path of [...PAGES, ...assets]) {
      const plain = await get(path);
      const compressed = await fetch(service.url + path, {
        headers: { "Accept-Encoding": "br, gzip;q=0.5" },
        decompress: false,
      });
      const { headers } = compressed;
      expect([headers.get("content-encoding"), headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
      expect(gunzipSync(await compressed.bytes()).equals(await plain.bytes())).toBe(true);
      expect(headers.get("etag")).not.toBe(plain.headers.get("etag"));
      for (const encoding of ["identity", "gzip;q=0", "br"]) {
        expect((await get(path, { "Accept-Encoding": encoding })).headers.get("content-encoding")).toBeNull();
      }
    }
  });

  it("have a policy that allows only local resources, no inline code and no framing", async () => {
    for (const path of [...PAGES, ...assets]) {
      const { headers } = await get(path);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toStartWith("default-src 'none'; ");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|data:|https?:|\*|nonce|sha256/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("set-cookie")).toBeNull();
    }
    for (const path of ["/", "/docs"]) {
      const page = await get(path);
      expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
      expect(await page.text()).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
    }
  });

  it("return the same headers for HEAD as for GET, and 404 for unknown names", async () => {
    for (const path of assets) {
      const [full, head] = [await get(path), await get(path, {}, "HEAD")];
      expect([head.status, head.headers.get("content-length")]).toEqual([200, String((await full.bytes()).length)]);
      expect(head.headers.get("etag")).toBe(full.headers.get("etag"));
    }
    for (const path of ["/assets/index-00000000.js", "/assets/%00", "/assets/constructor"]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  it("have less than 60 kB of scripts and styles compressed", async () => {
    const seen = new Set<string>();
    const queue = [...assets];
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (seen.has(path) || !/\.(js|css)$/.test(path)) continue;
      seen.add(path);
      const text = await (await get(path)).text();
      queue.push(...[...text.matchAll(/[\w-]+-[0-9a-z]{8}\.js/g)].map(([name]) => `/assets/${name}`));
    }
    const sizes = await Promise.all(
      [...seen].map(async (path) => {
        const headers = { "Accept-Encoding": "gzip" };
        return (await (await fetch(service.url + path, { headers, decompress: false })).bytes()).length;
      }),
    );
    expect(seen.size).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_COMPRESSED_BYTES);
  });
});
