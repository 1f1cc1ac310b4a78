import { describe, expect, it } from "bun:test";
import { ListCache } from "../../src/http/list-cache.ts";

const newList = (version: number, body = "[]") => ({ version, body, headers: {} });

/** Adds a list as often as the cache requires. */
function setTwice(cache: ListCache, owner: string, url: string, body?: string): void {
  for (let times = 0; times < 2; times++) cache.set(owner, url, newList(1, body));
}

describe("ListCache", () => {
  it("returns a list only for its own version", () => {
    const cache = new ListCache();
    setTwice(cache, "a", "/plants");
    expect(cache.get("a", "/plants", 2)).toBeUndefined();
    expect(cache.get("a", "/plants", 1)?.body).toBe("[]");
    cache.set("a", "/plants", newList(2));
    expect(cache.get("a", "/plants", 2)?.body).toBe("[]");
  });

  it("caches a list when it is set for the second time, unless 4,096 other lists came in between", () => {
    const cache = new ListCache();
    cache.set("a", "/plants", newList(1));
    expect(cache.get("a", "/plants", 1)).toBeUndefined();
    for (let index = 0; index < 4_096; index++) cache.set("a", `/plants?x=${index}`, newList(1));
    cache.set("a", "/plants", newList(1));
    expect(cache.get("a", "/plants", 1)).toBeUndefined();
    cache.set("a", "/plants", newList(1));
    expect(cache.get("a", "/plants", 1)?.body).toBe("[]");
  });

  it("separates owners and URLs", () => {
    const cache = new ListCache();
    setTwice(cache, "a b", "/plants");
    expect(cache.get("b", "/plants a", 1)).toBeUndefined();
    expect(cache.get("b", "/plants", 1)).toBeUndefined();
    expect(cache.get("a b", "/plants?limit=1", 1)).toBeUndefined();
  });

  it("does not cache a body longer than 64 Ki characters", () => {
    const cache = new ListCache();
    setTwice(cache, "a", "/plants", "x".repeat(64 * 1024 + 1));
    expect(cache.get("a", "/plants", 1)).toBeUndefined();
  });

  it("is limited in size when bodies are long", () => {
    const cache = new ListCache();
    const body = "x".repeat(64 * 1024);
    for (let index = 0; index < 1_000; index++) setTwice(cache, "a", `/plants?x=${index}`, body);
    const cached = Array.from({ length: 1_000 }, (_, index) => cache.get("a", `/plants?x=${index}`, 1)).filter(Boolean);
    expect(cached.length).toBeGreaterThan(0);
    expect(cached.length).toBeLessThanOrEqual(128);
  });

  it("is limited in size when bodies are short", () => {
    const cache = new ListCache();
    const urls = Array.from({ length: 50_000 }, (_, index) => `/plants?x=${index}`);
    for (const url of urls) setTwice(cache, "a", url);
    const cached = urls.filter((url) => cache.get("a", url, 1) !== undefined);
    expect(cached.length).toBeGreaterThan(0);
    expect(cached.length).toBeLessThanOrEqual(16_384);
  });

  /** A list of 64 Ki characters together with its key, its `Link` header and 512 for the entry. 32 of them fill the cache. */
  const url = (index: number) => `/plants?x=${index}`.padEnd(40, "x");
  const link = "l".repeat(100);
  const body = "x".repeat(64 * 1024 - 512 - `${url(0)}\na`.length - link.length);
  const isCached = (cache: ListCache, index: number) => cache.get("a", url(index), 1) !== undefined;
  /** Adds the lists with indexes from `first` to `end - 1`. */
  function add(cache: ListCache, first: number, end: number): ListCache {
    for (let index = first; index < end; index++)
      for (let times = 0; times < 2; times++) cache.set("a", url(index), { version: 1, body, headers: { Link: link } });
    return cache;
  }

  it("counts the key, the body, the Link header and 512 characters per list, up to 2 Mi characters", () => {
    const full = add(new ListCache(), 0, 32);
    for (let index = 0; index < 32; index++) expect(isCached(full, index)).toBe(true);
    setTwice(full, "b", "/plants");
    expect([isCached(full, 0), full.get("b", "/plants", 1)?.body]).toEqual([false, "[]"]);
  });

  it("counts only the list that replaces another with the same key", () => {
    const cache = add(new ListCache(), 0, 32);
    for (let version = 2; version < 9; version++) cache.set("a", url(0), newList(version));
    setTwice(cache, "a", "/plants", "x".repeat(60_000));
    expect(isCached(cache, 1)).toBe(true);
    setTwice(cache, "a", "/plants?y", "x".repeat(10_000));
    expect(isCached(cache, 1)).toBe(false);
  });

  it("counts from zero after it was cleared", () => {
    const cache = add(new ListCache(), 0, 33);
    expect([isCached(cache, 0), isCached(cache, 32)]).toEqual([false, true]);
    add(cache, 100, 131);
    expect([isCached(cache, 32), isCached(cache, 130)]).toEqual([true, true]);
  });
});
