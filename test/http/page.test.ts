import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { gunzipSync } from "node:zlib";
import { type Service, startService } from "../support/service.ts";

/** Script and style of the page, compressed; the chart, which comes when it is looked at, aside. */
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
const PAGES = ["/", "/docs", "/docs/docs.js", "/docs/swagger-ui.css", "/icon.svg", "/openapi.json"];

describe("the files of the pages", () => {
  it("are revalidated, where their names stay the same", async () => {
    for (const path of PAGES) {
      const { headers } = await get(path);
      expect([path, headers.get("cache-control")]).toEqual([path, "no-cache"]);
      const etag = headers.get("etag") ?? "";
      for (const known of [etag, `W/${etag}`, `"x", ${etag}`, `"x" , W/${etag},"y"`, "*"]) {
        const again = await get(path, { "If-None-Match": known });
        expect([path, again.status, await again.text(), again.headers.get("etag")]).toEqual([path, 304, "", etag]);
      }
      expect((await get(path, { "If-None-Match": '"x"' })).status).toBe(200);
      expect((await get(path, { "If-None-Match": etag.slice(1, -1) })).status).toBe(200);
    }
  });

  it("are kept for ever, where their names change with them", async () => {
    expect(assets.map((path) => path.replace(/^.*\./, "")).sort()).toEqual(["css", "js", "svg"]);
    for (const path of assets) {
      const { status, headers } = await get(path);
      expect([status, headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
      expect(path).toMatch(/^\/assets\/[\w.-]+-[0-9a-z]{8}\.\w+$/);
    }
  });

  it("come compressed to whoever takes that, each form with a tag of its own", async () => {
    for (const path of [...PAGES, ...assets]) {
      const plain = await get(path);
      const packed = await fetch(service.url + path, {
        headers: { "Accept-Encoding": "br, gzip;q=0.5" },
        decompress: false,
      });
      expect([packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual(["gzip", "Accept-Encoding"]);
      expect(gunzipSync(await packed.bytes()).equals(await plain.bytes())).toBe(true);
      expect(packed.headers.get("etag")).not.toBe(plain.headers.get("etag"));
      for (const accepts of ["identity", "gzip;q=0", "br"]) {
        expect((await get(path, { "Accept-Encoding": accepts })).headers.get("content-encoding")).toBeNull();
      }
    }
  });

  it("may load nothing but one another, run nothing inline, and be framed by nobody", async () => {
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
    expect((await get("/")).headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
    for (const page of [document, await (await get("/docs")).text()]) {
      expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
    }
  });

  it("answer HEAD like GET, and a name that is no more with 404", async () => {
    for (const path of assets) {
      const [got, head] = [await get(path), await get(path, {}, "HEAD")];
      expect([head.status, head.headers.get("content-length")]).toEqual([200, String((await got.bytes()).length)]);
      expect(head.headers.get("etag")).toBe(got.headers.get("etag"));
    }
    for (const path of ["/assets/index-00000000.js", "/assets/%00", "/assets/constructor"]) {
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    }
  });

  it("are small: script and style together, but for the chart", async () => {
    const seen = new Set<string>();
    const queue = [...assets];
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (seen.has(path) || !/\.(js|css)$/.test(path) || path.includes("/chart-")) continue;
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
