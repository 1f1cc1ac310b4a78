import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { Api } from "./support/api.ts";
import { ENGINES } from "./support/engines.ts";
import { int64, text } from "./support/inputs.ts";
import { isName, isTag } from "./support/judge.ts";
import { type Service, startService } from "./support/service.ts";

const TIMEOUT_MS = 60_000;

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());

  describe("a plant", () => {
    it(
      "keeps any id from the body over the list to the path",
      async () => {
        const token = await service.token();
        await fc.assert(
          fc.asyncProperty(int64, async (id) => {
            expect((await api.create(token, `{"id":${id},"name":"x"}`)).status).toBe(200);
            expect((await api.list(token, `?fields=id&after=${id === -(2n ** 63n) ? id : id - 1n}`)).text).toBe(
              id === -(2n ** 63n) ? "[]" : `[{"id":${id}}]`,
            );
            expect(await api.ids(token)).toEqual([String(id)]);
            expect((await api.delete(token, id)).status).toBe(204);
          }),
          { numRuns: 300 },
        );
      },
      TIMEOUT_MS,
    );

    it(
      "keeps any name and tag that the contract allows, and is refused with any other",
      async () => {
        const token = await service.token();
        let kept = 0;
        await fc.assert(
          fc.asyncProperty(text(1024), fc.option(text(255), { nil: undefined }), async (name, tag) => {
            const reply = await api.create(token, JSON.stringify({ id: 1, name, tag }));
            if (!isName(name) || !(tag === undefined || isTag(tag))) {
              expect(reply.error).toBe(40002);
              return;
            }
            const expected = tag === undefined ? { name } : { name, tag };
            kept++;
            expect(reply.body).toEqual(expected);
            const query = tag === undefined ? "" : `?tag=${encodeURIComponent(tag)}`;
            expect((await api.list(token, query)).body).toEqual([expected]);
            expect((await api.delete(token, 1)).status).toBe(204);
          }),
          { numRuns: 600, endOnFailure: true },
        );
        expect(kept).toBeGreaterThan(50);
      },
      TIMEOUT_MS,
    );

    it(
      "is found in any order of creates and deletes just where a map would have it",
      async () => {
        const id = fc.integer({ min: -4, max: 4 });
        const step = fc.oneof(
          fc.record({
            op: fc.constant("create" as const),
            id,
            name: fc.constantFrom("a", "b"),
            key: fc.constantFrom("k", "l", ""),
          }),
          fc.record({ op: fc.constant("delete" as const), id }),
        );
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (steps, limit) => {
            const token = await service.token();
            const plants = new Map<number, { name: string; key: string }>();
            for (const each of steps) {
              const there = plants.get(each.id);
              if (each.op === "delete") {
                expect((await api.delete(token, each.id)).status).toBe(plants.delete(each.id) ? 204 : 404);
                continue;
              }
              const { name, key } = each;
              const isRepeat = key !== "" && there?.key === key && there.name === name;
              const headers: Record<string, string> = key === "" ? {} : { "Idempotency-Key": key };
              const reply = await api.create(token, { id: each.id, name }, headers);
              expect(reply.error).toBe(there === undefined || isRepeat ? undefined : 40003);
              if (there === undefined) plants.set(each.id, { name, key });
            }
            const expected = [...plants].toSorted(([a], [b]) => a - b).map(([id, { name }]) => ({ id, name }));
            expect((await api.list(token, "?fields=id,name")).body).toEqual(expected);
            const page = await api.list(token, `?fields=id,name&limit=${limit}`);
            expect(page.body).toEqual(expected.slice(0, limit));
            expect(page.headers.has("link")).toBe(expected.length > limit);
          }),
          { numRuns: 60 },
        );
      },
      TIMEOUT_MS,
    );
  });
});
