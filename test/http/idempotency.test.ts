import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Api } from "../support/api.ts";
import { ENGINES } from "../support/engines.ts";
import { type Service, startService } from "../support/service.ts";

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());

  const PLANT = { id: 1, name: "x", tag: "t" };
  const keyed = (key: string) => ({ "Idempotency-Key": key });

  describe("POST /plants with an Idempotency-Key", () => {
    it.each(["a b", "a\tb", "é", "\u0080", "🌱", "k".repeat(256)])("rejects the key %p", async (key) => {
      const token = await service.token();
      const value = Buffer.from(key).toString("latin1");
      const reply = await api.create(token, PLANT, keyed(value));
      expect(reply.error).toBe(40008);
      expect(reply.text).toContain("Idempotency-Key");
      expect(await api.ids(token)).toEqual([]);
    });

    it.each([
      ["an empty key", "Idempotency-Key:"],
      ["two keys", "Idempotency-Key: a\r\nIdempotency-Key: b"],
    ])("rejects %s", async (_description, header) => {
      const token = await service.token();
      const head = `POST /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n${header}`;
      const body = '{"id":1,"name":"x"}';
      const reply = await api.sendRaw(
        `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      expect(reply.error).toBe(40008);
      expect(await api.ids(token)).toEqual([]);
    });

    it.each<[string, Record<string, string>, Record<string, string>, object]>([
      ["no key after a create with one", keyed("k"), {}, PLANT],
      ["a key after a create without one", {}, keyed("k"), PLANT],
      ["another key", keyed("k"), keyed("l"), PLANT],
      ["a key in another case", keyed("k"), keyed("K"), PLANT],
      ["another name", keyed("k"), keyed("k"), { ...PLANT, name: "y" }],
      ["a trailing space in the name", keyed("k"), keyed("k"), { ...PLANT, name: "x " }],
      ["another tag", keyed("k"), keyed("k"), { ...PLANT, tag: "u" }],
      ["an empty tag", keyed("k"), keyed("k"), { ...PLANT, tag: "" }],
      ["no tag", keyed("k"), keyed("k"), { id: 1, name: "x" }],
    ])("rejects a retry with %s", async (_description, first, second, plant) => {
      const token = await service.token();
      expect((await api.create(token, PLANT, first)).status).toBe(200);
      expect((await api.create(token, plant, second)).error).toBe(40003);
      expect((await api.list(token, "?fields=id,name,tag")).body).toEqual([PLANT]);
    });

    it("rejects a retry with an empty tag after a create without a tag", async () => {
      const token = await service.token();
      await api.create(token, { id: 1, name: "x" }, keyed("k"));
      expect((await api.create(token, { id: 1, name: "x", tag: "" }, keyed("k"))).error).toBe(40003);
    });

    it("rejects an old key after the plant was deleted and created again with another key", async () => {
      const token = await service.token();
      await api.create(token, PLANT, keyed("old"));
      await api.delete(token, 1);
      expect((await api.create(token, PLANT, keyed("new"))).status).toBe(200);
      expect((await api.create(token, PLANT, keyed("old"))).error).toBe(40003);
    });

    it.each(["k", "!", "~", "k".repeat(255), '{"a":[1]},;='])(
      "returns the original response for a retry with the key %p",
      async (key) => {
        const token = await service.token();
        const first = await api.create(token, PLANT, keyed(key));
        const second = await api.create(token, '{"tag":"t","name":"\\u0078","id":1.0,"more":1}', keyed(key));
        expect([second.status, second.text]).toEqual([200, first.text]);
        expect(await api.ids(token)).toEqual(["1"]);
      },
    );

    it("creates the plant again when it was deleted in between", async () => {
      const token = await service.token();
      await api.create(token, PLANT, keyed("k"));
      await api.delete(token, 1);
      expect((await api.create(token, PLANT, keyed("k"))).status).toBe(200);
      expect(await api.ids(token)).toEqual(["1"]);
    });

    it("returns 200 to 30 concurrent retries and creates one plant", async () => {
      const token = await service.token();
      const replies = await Promise.all(Array.from({ length: 30 }, () => api.create(token, PLANT, keyed("k"))));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
      expect(await api.ids(token)).toEqual(["1"]);
    });

    it("creates separate plants when two ids or two owners share a key", async () => {
      const [one, other] = [await service.token(), await service.token()];
      await api.create(one, PLANT, keyed("k"));
      expect((await api.create(one, { ...PLANT, id: 2 }, keyed("k"))).status).toBe(200);
      expect((await api.create(other, PLANT, keyed("k"))).status).toBe(200);
      expect([await api.ids(one), await api.ids(other)]).toEqual([["1", "2"], ["1"]]);
    });
  });
});
