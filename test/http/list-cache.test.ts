import { describe, expect, it } from "bun:test";
import { ListCache } from "../../src/http/list-cache.ts";

const answered = (version: number, body = "[]") => ({ version, body, headers: {} });

/** Asks for a list as often as it takes to have its body kept. */
function keep(cache: ListCache, owner: string, url: string, body?: string): void {
  for (let times = 0; times < 2; times++) cache.set(owner, url, answered(1, body));
}

describe("the cache of list bodies", () => {
  it("forgets a body when the version is another", () => {
    const cache = new ListCache();
    keep(cache, "a", "/plants");
    expect(cache.get("a", "/plants", 2)).toBeUndefined();
    expect(cache.get("a", "/plants", 1)?.body).toBe("[]");
    cache.set("a", "/plants", answered(2));
    expect(cache.get("a", "/plants", 2)?.body).toBe("[]");
  });

  it("keeps a body only when its list is asked for again, and not too long after", () => {
    const cache = new ListCache();
    cache.set("a", "/plants", answered(1));
    expect(cache.get("a", "/plants", 1)).toBeUndefined();
    for (let index = 0; index < 4_096; index++) cache.set("a", `/plants?x=${index}`, answered(1));
    cache.set("a", "/plants", answered(1));
    expect(cache.get("a", "/plants", 1)).toBeUndefined();
    cache.set("a", "/plants", answered(1));
    expect(cache.get("a", "/plants", 1)?.body).toBe("[]");
  });

  it("keeps owners and addresses apart", () => {
    const cache = new ListCache();
    keep(cache, "a b", "/plants");
    expect(cache.get("b", "/plants a", 1)).toBeUndefined();
    expect(cache.get("b", "/plants", 1)).toBeUndefined();
    expect(cache.get("a b", "/plants?limit=1", 1)).toBeUndefined();
  });

  it("does not keep a long body", () => {
    const cache = new ListCache();
    keep(cache, "a", "/plants", "x".repeat(64 * 1024 + 1));
    expect(cache.get("a", "/plants", 1)).toBeUndefined();
  });

  it("stays bounded, whatever is asked", () => {
    const cache = new ListCache();
    const body = "x".repeat(64 * 1024);
    for (let index = 0; index < 1_000; index++) keep(cache, "a", `/plants?x=${index}`, body);
    const kept = Array.from({ length: 1_000 }, (_, index) => cache.get("a", `/plants?x=${index}`, 1)).filter(Boolean);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(128);
  });

  it("stays bounded when every answer is short", () => {
    const cache = new ListCache();
    const urls = Array.from({ length: 50_000 }, (_, index) => `/plants?x=${index}`);
    for (const url of urls) keep(cache, "a", url);
    const kept = urls.filter((url) => cache.get("a", url, 1) !== undefined);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(16_384);
  });
});
