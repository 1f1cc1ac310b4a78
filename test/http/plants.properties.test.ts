import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { Api } from "../support/api.ts";
import { int64, text } from "../support/arbitraries.ts";
import { ENGINES } from "../support/engines.ts";
import { isInt64, isName, isTag } from "../support/oracle.ts";
import { type Service, startService } from "../support/service.ts";

const TIMEOUT_MS = 60_000;

/** The expected behavior for JSON values whose numbers are doubles. */
const model = {
  /** Whether a double, as written by `JSON.stringify`, is a valid id. */
  isId: (value: unknown): value is number =>
    typeof value === "number" && /^-?\d+$/.test(String(value)) && isInt64(BigInt(String(value))),
  /** Returns the response to a create with this JSON value; `undefined` if it is rejected. */
  create(value: unknown): object | undefined {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const own = (key: string): unknown => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined);
    const [id, name, tag] = [own("id"), own("name"), own("tag")];
    if (!model.isId(id) || !isName(name) || (tag !== undefined && !isTag(tag))) return undefined;
    return tag === undefined ? { name } : { name, tag };
  },
};

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());

  describe("plants", () => {
    it(
      "have the same id in the body, in lists and in paths",
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
      "are stored unchanged with a valid name and tag, and rejected otherwise",
      async () => {
        const token = await service.token();
        let stored = 0;
        await fc.assert(
          fc.asyncProperty(text(1024), fc.option(text(255), { nil: undefined }), async (name, tag) => {
            const plant = { id: 1, name, tag };
            const reply = await api.create(token, JSON.stringify(plant));
            const expected = model.create(plant);
            if (expected === undefined) {
              expect(reply.error).toBe(40002);
              return;
            }
            stored++;
            expect(reply.body).toEqual(expected);
            const query = tag === undefined ? "" : `?tag=${encodeURIComponent(tag)}`;
            expect((await api.list(token, query)).body).toEqual([expected]);
            expect((await api.delete(token, 1)).status).toBe(204);
          }),
          { numRuns: 600, endOnFailure: true },
        );
        expect(stored).toBeGreaterThan(50);
      },
      TIMEOUT_MS,
    );

    it(
      "match a map after any sequence of creates and deletes",
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
              const existing = plants.get(each.id);
              if (each.op === "delete") {
                expect((await api.delete(token, each.id)).status).toBe(plants.delete(each.id) ? 204 : 404);
                continue;
              }
              const { name, key } = each;
              const isRepeat = key !== "" && existing?.key === key && existing.name === name;
              const headers: Record<string, string> = key === "" ? {} : { "Idempotency-Key": key };
              const reply = await api.create(token, { id: each.id, name }, headers);
              expect(reply.error).toBe(existing === undefined || isRepeat ? undefined : 40003);
              if (existing === undefined) plants.set(each.id, { name, key });
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

  describe("POST /plants", () => {
    it(
      "accepts a JSON value exactly when it is a valid plant",
      async () => {
        const token = await service.token();
        const any = fc.jsonValue({ maxDepth: 2 });
        const field = <T>(likely: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: likely }, any);
        const fields = {
          id: field(fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true }), fc.double().map(Math.round))),
          name: field(fc.oneof(fc.constant("x"), text(1024))),
          tag: field(text(255)),
          other: any,
        };
        const body = fc.oneof(
          any,
          { weight: 4, arbitrary: fc.record(fields, { requiredKeys: ["id", "name"] }) },
          fc.record(fields, { requiredKeys: [] }),
        );
        await fc.assert(
          fc.asyncProperty(body, async (value) => {
            const sent = JSON.stringify(value);
            const reply = await api.create(token, sent);
            const expected = model.create(JSON.parse(sent));
            if (expected === undefined) {
              expect(reply.error).toBe(40002);
              return;
            }
            expect(reply.body).toEqual(expected);
            for (const id of await api.ids(token)) await api.delete(token, id);
          }),
          { numRuns: 1_000, endOnFailure: true },
        );
      },
      TIMEOUT_MS,
    );

    it(
      "returns 40001 exactly when the body is not JSON in UTF-8",
      async () => {
        const token = await service.token();
        const valid = Buffer.from('{"id":1,"name":"Läuferé🌱","tag":"t"}');
        const mutated = fc
          .tuple(fc.nat({ max: valid.length - 1 }), fc.integer({ min: 0, max: 255 }), fc.boolean())
          .map(([at, byte, isCut]) =>
            isCut
              ? valid.subarray(0, at)
              : Buffer.concat([valid.subarray(0, at), Buffer.of(byte), valid.subarray(at + 1)]),
          );
        await fc.assert(
          fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 200 }), mutated), async (bytes) => {
            let value: unknown;
            let isJson = true;
            try {
              value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
            } catch {
              isJson = false;
            }
            const reply = await api.create(token, Uint8Array.from(bytes));
            const expected = isJson ? model.create(value) : undefined;
            expect(reply.error).toBe(isJson ? (expected === undefined ? 40002 : undefined) : 40001);
            for (const id of await api.ids(token)) await api.delete(token, id);
          }),
          { numRuns: 600 },
        );
      },
      TIMEOUT_MS,
    );
  });

  describe("GET /plants", () => {
    it(
      "returns 200 or 400 for any query",
      async () => {
        const token = await service.token();
        await api.create(token, { id: 1, name: "x", tag: "t" });
        const name = fc.constantFrom("limit", "after", "tag", "fields", "%6cimit", "x", "");
        const anything = fc.string({ unit: fc.constantFrom(..."&=%+;,?/019afFlimtgdes-. é🌱\u0001") });
        const pair = fc.tuple(name, fc.oneof(anything, fc.integer().map(String))).map((parts) => parts.join("="));
        const query = fc.oneof(
          anything,
          fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join("&")),
        );
        await fc.assert(
          fc.asyncProperty(query, async (each) => {
            expect((await api.list(token, `?${each}`)).status).toBeOneOf([200, 400]);
          }),
          { numRuns: 600 },
        );
      },
      TIMEOUT_MS,
    );

    it(
      "rejects a query exactly when a known parameter is invalid, or repeated unless it is fields",
      async () => {
        const token = await service.token();
        const values: Record<string, [valid: string[], invalid: string[]]> = {
          limit: [
            ["1", "2147483647", "%31", "007"],
            ["0", "", "2147483648", "-1", "1.5", "a", "%FF"],
          ],
          after: [
            ["0", "-1", "9223372036854775807", "-9223372036854775808"],
            ["", "9223372036854775808", "1.0", "%"],
          ],
          tag: [
            ["", "t", "a+b", "%2B", "%F0%9F%8C%B1"],
            ["%FF", "%00", "%", "x".repeat(256)],
          ],
          fields: [
            ["id", "name,tag", "tag,id,name"],
            ["", "x", "id,", "ID"],
          ],
          other: [["", "%FF", "1"], []],
        };
        const pairs = Object.entries(values).flatMap(([name, [valid, invalid]]) => [
          ...valid.map((value) => ({ name, value, isValid: true })),
          ...invalid.map((value) => ({ name, value, isValid: false })),
        ]);
        await fc.assert(
          fc.asyncProperty(fc.array(fc.constantFrom(...pairs), { maxLength: 4 }), async (chosen) => {
            const unique = chosen.map(({ name }) => name).filter((name) => name !== "other" && name !== "fields");
            const isValid = chosen.every((each) => each.isValid) && new Set(unique).size === unique.length;
            const reply = await api.list(token, `?${chosen.map(({ name, value }) => `${name}=${value}`).join("&")}`);
            expect(reply.status).toBe(isValid ? 200 : 400);
          }),
          { numRuns: 600 },
        );
      },
      TIMEOUT_MS,
    );
  });

  describe("DELETE /plants/{id}", () => {
    it(
      "returns 404 when the path contains a valid id, and 400 otherwise",
      async () => {
        const token = await service.token();
        const text = fc.oneof(
          fc.string({ unit: "binary-ascii", minLength: 1 }),
          fc.string({ unit: fc.constantFrom(..."-+0123456789.e "), minLength: 1 }),
          int64.map(String),
        );
        // fetch resolves dot segments before it sends the request, even if they are percent-encoded.
        const path = text.filter((each) => each !== "." && each !== "..");
        await fc.assert(
          fc.asyncProperty(path, async (id) => {
            const isId = /^-?[0-9]+$/.test(id) && isInt64(BigInt(id));
            const encoded = [...id].map((c) =>
              /[0-9-]/.test(c) ? c : `%${c.charCodeAt(0).toString(16).padStart(2, "0")}`,
            );
            expect((await api.delete(token, encoded.join(""))).error).toBe(isId ? 40400 : 40007);
          }),
          { numRuns: 400 },
        );
      },
      TIMEOUT_MS,
    );
  });
});
