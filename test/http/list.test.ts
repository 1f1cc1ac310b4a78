import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Api, idsIn, nextOf } from "../support/api.ts";
import { ENGINES } from "../support/engines.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());

  describe("GET /plants: misuse", () => {
    it.each(
      Object.entries({
        40006: [
          ...["limit", "limit=", "limit=0", "limit=-1", "limit=2147483648", "limit=99999999999999999999", "limit=1.0"],
          ...[
            "limit=1e1",
            "limit=0x1",
            "limit=+1",
            "limit=%2B1",
            "limit=1%20",
            "limit=%D9%A3",
            "%6Cimit=0",
            "limit=NaN",
          ],
        ],
        40007: [
          ...[
            "after",
            "after=",
            "after=1.0",
            "after=1e3",
            "after=--1",
            "after=-",
            "after=+1",
            "after=%2B1",
            "after=1%20",
          ],
          ...["after=9223372036854775808", "after=-9223372036854775809", `after=${"9".repeat(5_000)}`, "after=%D9%A3"],
        ],
        40008: [
          ...[
            "tag=%FF",
            "tag=%",
            "tag=%4",
            "tag=%ZZ",
            "tag=%C0%80",
            "tag=%ED%A0%80",
            "tag=%00",
            "tag=a%E2%82",
            "limit=%",
          ],
          ...[`tag=${"x".repeat(256)}`, `tag=${"%F0%9F%8C%B1".repeat(256)}`],
          ...[
            "fields",
            "fields=",
            "fields=,",
            "fields=id,",
            "fields=ID",
            "fields=id,%20tag",
            "fields=colour",
            "fields=id;tag",
          ],
          ...[
            "limit=1&limit=1",
            "after=1&after=2",
            "tag=a&tag=a",
            "tag&tag",
            "fields=id&fields=x",
            "fields=id&fields",
            "%74ag=a&t%61g=b",
          ],
        ],
      }).flatMap(([error, queries]) => queries.map((query) => [error, query] as const)),
    )("returns %s for ?%s", async (error, query) => {
      const reply = await api.list(await service.token(), `?${query}`);
      expect(reply.error).toBe(Number(error));
    });

    it("returns messages that name the parameter and its valid values", async () => {
      const token = await service.token();
      expect((await api.list(token, "?limit=0")).text).toContain("limit must be an integer from 1 to 2147483647");
      const { text } = await api.list(token, "?after=x");
      expect(text).toContain("after must be an integer from -9223372036854775808 to 9223372036854775807");
      expect((await api.list(token, "?fields=x")).text).toContain("id, name, tag");
    });

    it.each(["colour=red&colour=blue", "%=1", "%FF=%FF", "x=%ZZ", "Limit=0", "TAG=%FF", "&&=&", "limi=0", "limit[]=0"])(
      "ignores ?%s",
      async (query) => {
        const token = await service.token();
        await api.create(token, { id: 1, name: "x" });
        expect((await api.list(token, `?${query}`)).text).toBe('[{"name":"x"}]');
      },
    );
  });

  describe("GET /plants: order and fields", () => {
    it("returns an empty array for an owner without plants", async () => {
      const token = await service.token();
      for (const query of ["", "?limit=1", "?tag=", "?after=0"]) {
        const reply = await api.list(token, query);
        expect([reply.text, nextOf(reply)]).toEqual(["[]", undefined]);
      }
    });

    it.each<[string, object[]]>([
      ["", [{ name: "a", tag: "t" }, { name: "b" }]],
      ["?fields=name,tag", [{ name: "a", tag: "t" }, { name: "b" }]],
      ["?fields=id", [{ id: 1 }, { id: 2 }]],
      ["?fields=name", [{ name: "a" }, { name: "b" }]],
      ["?fields=tag", [{ tag: "t" }, {}]],
      [
        "?fields=tag,name,id",
        [
          { id: 1, name: "a", tag: "t" },
          { id: 2, name: "b" },
        ],
      ],
      ["?fields=id%2Ctag", [{ id: 1, tag: "t" }, { id: 2 }]],
      ["?fields=id,id", [{ id: 1 }, { id: 2 }]],
      ["?fields=id&fields=id", [{ id: 1 }, { id: 2 }]],
      ["?fields=id&limit=5&fields=tag", [{ id: 1, tag: "t" }, { id: 2 }]],
    ])("returns the fields of %p", async (query, expected) => {
      const token = await service.token();
      await api.create(token, { id: 1, name: "a", tag: "t" });
      await api.create(token, { id: 2, name: "b" });
      expect((await api.list(token, query)).body).toEqual(expected);
    });

    it("reflects every acknowledged create and delete", async () => {
      const token = await service.token();
      for (let id = 0; id < 30; id++) {
        await api.create(token, { id, name: "x" });
        expect(await api.ids(token)).toEqual([String(id)]);
        await api.delete(token, id);
        expect(await api.ids(token)).toEqual([]);
      }
    });
  });

  describe("GET /plants: tag", () => {
    const TAGS = ["", " ", "a b", "a+b", "A B", "a b ", "é", "e\u0301", "\ufffd", "%FF", "a\u0001", "🌱", "null"];

    it.each([
      ...TAGS.map((tag) => [encodeURIComponent(tag), [tag]] as const),
      ["a+b", ["a b"]],
      ["a%2Bb", ["a+b"]],
      ["a%2bb", ["a+b"]],
      ["A%20B", ["A B"]],
      ["a=b", []],
      ["b", []],
      ["%25FF", ["%FF"]],
      ["é", ["é"]],
    ])("with tag=%s returns only plants with exactly that tag", async (tag, expected) => {
      const token = await service.token();
      await api.create(token, { id: 100, name: "untagged" });
      await Promise.all(TAGS.map((each, id) => api.create(token, { id, name: "x", tag: each })));
      expect((await api.list(token, `?tag=${tag}&fields=tag`)).body).toEqual(expected.map((each) => ({ tag: each })));
    });

    it("can be combined with after and limit", async () => {
      const owner = newOwner();
      const insert = (id: number) =>
        service.storage.insertPlant(owner, { id: BigInt(id), name: "x", tag: id % 3 === 0 ? "t" : "u" }, undefined);
      await Promise.all(Array.from({ length: 40 }, (_, i) => insert(i - 20)));
      const token = await service.token({ owner });
      expect(await api.ids(token, "&tag=t&after=-7")).toEqual(["-6", "-3", "0", "3", "6", "9", "12", "15", "18"]);
      const page = await api.list(token, "?tag=t&after=-7&limit=3&fields=id");
      expect([idsIn(page), nextOf(page)]).toEqual([["-6", "-3", "0"], "/plants?tag=t&limit=3&fields=id&after=0"]);
    });
  });
});
