import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Api, idsIn, nextOf, type Reply } from "../support/api.ts";
import { ENGINES } from "../support/engines.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const EDGE_IDS = [INT64_MIN, INT64_MIN + 1n, -(2n ** 53n) - 1n, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 2n ** 53n]
  .concat([2n ** 53n + 1n, INT64_MAX - 1n, INT64_MAX])
  .map(String);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1));

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());

  /** Creates plants with these ids in reverse order for a new owner, and returns a token of the owner. */
  async function ownerOf(
    ids: readonly string[],
    plant: { name: string; tag?: string } = { name: "x" },
  ): Promise<string> {
    const owner = newOwner();
    for (let end = ids.length; end > 0; end -= 2_000) {
      const batch = ids.slice(Math.max(0, end - 2_000), end).reverse();
      await Promise.all(batch.map((id) => service.storage.insertPlant(owner, { id: BigInt(id), ...plant }, undefined)));
    }
    return service.token({ owner });
  }

  /** Requests a page and all pages that follow it by `Link`. */
  async function follow(token: string, query: string): Promise<Reply[]> {
    const pages: Reply[] = [];
    for (let path: string | undefined = `/plants${query}`; path !== undefined; path = nextOf(pages.at(-1) as Reply)) {
      pages.push(await api.send("GET", path, { token }));
    }
    return pages;
  }

  describe("GET /plants: order, after and limit", () => {
    it("returns plants in order of their ids, exact over the range of int64", async () => {
      const token = await service.token();
      for (const id of EDGE_IDS.toReversed()) await api.create(token, `{"id":${id},"name":"${id}"}`);
      const reply = await api.list(token, "?fields=id,name");
      expect(reply.text).toBe(`[${EDGE_IDS.map((id) => `{"id":${id},"name":"${id}"}`).join(",")}]`);
    });

    it.each(EDGE_IDS.map((id, index) => [id, index] as const))(
      "returns only greater ids for after=%s",
      async (id, index) => {
        const token = await ownerOf(EDGE_IDS);
        expect(await api.ids(token, `&after=${id}`)).toEqual(EDGE_IDS.slice(index + 1));
        expect(await api.ids(token, `&after=${id}&limit=2`)).toEqual(EDGE_IDS.slice(index + 1, index + 3));
      },
    );

    it.each([
      ["-0", "1"],
      ["007", "8"],
      ["-007", "-6"],
      ["%35", "6"],
    ])("accepts after=%s", async (after, first) => {
      const token = await ownerOf(Array.from({ length: 30 }, (_, i) => String(i - 15)));
      expect((await api.ids(token, `&after=${after}`))[0]).toBe(first);
    });

    it.each([1, 2, 5, 7, 13, 14, 15, 1_000_000, 2_147_483_647])("links all pages with limit=%d", async (limit) => {
      const token = await ownerOf(EDGE_IDS);
      const pages = await follow(token, `?fields=id&limit=${limit}`);
      expect(pages.flatMap(idsIn)).toEqual(EDGE_IDS);
      expect(pages).toHaveLength(Math.ceil(EDGE_IDS.length / limit));
      expect(pages.slice(0, -1).every((page) => idsIn(page).length === limit)).toBe(true);
    });

    it("keeps the other parameters unchanged in the link", async () => {
      const tag = 'a+b &=#%,"<>é🌱';
      const token = await ownerOf(upTo(5), { name: "x", tag });
      await api.create(token, { id: 3n * 10n, name: "other", tag: "a b" });
      const query = `?x=1&x=%FF&%61fter=1&tag=${encodeURIComponent(tag)}&fields=id,tag&limit=2&colour`;
      const pages = await follow(token, query);
      expect(pages.map(idsIn)).toEqual([
        ["2", "3"],
        ["4", "5"],
      ]);
      const link = new URL(nextOf(pages[0] as Reply) ?? "", "http://x");
      expect(link.searchParams.getAll("after")).toEqual(["3"]);
      expect(link.searchParams.get("tag")).toBe(tag);
      expect(link.searchParams.get("fields")).toBe("id,tag");
      expect(link.searchParams.getAll("x")).toHaveLength(2);
      expect(link.searchParams.has("colour")).toBe(true);
    });

    it.each([999, 1_000, 1_001, 2_000, 2_500])(
      "returns all of %d plants in order, with and without limit",
      async (count) => {
        const ids = upTo(count);
        const token = await ownerOf(ids);
        const whole = await api.list(token, "?fields=id");
        expect(whole.text).toBe(`[${ids.map((id) => `{"id":${id}}`).join(",")}]`);
        expect(nextOf(whole)).toBeUndefined();
        const pages = await follow(token, "?fields=id&limit=1000");
        expect(pages.map((page) => idsIn(page).length)).toEqual(
          [1_000, 1_000, 1_000].map((size, i) => Math.min(size, count - i * size)).filter((size) => size > 0),
        );
        expect(pages.flatMap(idsIn)).toEqual(ids);
        expect((await api.list(token, `?fields=id&limit=${count}`)).text).toBe(whole.text);
        expect((await follow(token, `?fields=id&limit=${count - 1}`)).map((page) => idsIn(page).length)).toEqual([
          count - 1,
          1,
        ]);
      },
    );

    it("ends a page early at 2 MiB and links to the next one", async () => {
      const ids = upTo(10_000);
      const token = await ownerOf(ids, { name: "n".repeat(1024) });
      const pages = await follow(token, "?limit=10000&fields=id,name");
      expect(pages.length).toBe(5);
      for (const { text } of pages) expect(Buffer.byteLength(text)).toBeLessThan(2.1 * 1024 * 1024);
      expect(pages.flatMap(idsIn)).toEqual(ids);
      expect(idsIn(await api.list(token, "?fields=id"))).toEqual(ids);
    });

    it("returns each permanent plant exactly once while others are created and deleted", async () => {
      const ids = upTo(4_000);
      const token = await ownerOf(ids, { name: "n".repeat(500) });
      const response = await fetch(`${service.url}/plants?fields=id,name`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      let text = "";
      let id = 0;
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        id += 2;
        await api.delete(token, id);
        await api.create(token, { id: -id, name: "x" });
      }
      const seen = (JSON.parse(text) as { id: number }[]).map((plant) => plant.id);
      expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
      expect(seen.filter((each) => each % 2 === 1)).toEqual(ids.map(Number).filter((each) => each % 2 === 1));
    });
  });
});
