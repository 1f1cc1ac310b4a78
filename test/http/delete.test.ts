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

  describe("DELETE /plants/{id}", () => {
    it.each([
      ...[
        "+5",
        "%2B5",
        "5.0",
        "5e0",
        "0x5",
        "--5",
        "-",
        "5-",
        "abc",
        "null",
        "5,6",
        "5;6",
        "%20",
        "%205",
        "5%20",
        "5%0A",
      ],
      ...["5%2F6", "%FF", "%", "%3", "5%00", "%00", "%D9%A3", "٣", "５", "%25%33%35", "-+5", "1_000", "5n", "*"],
      ...["9223372036854775808", "-9223372036854775809", "99999999999999999999", `1${"0".repeat(2_000)}`],
    ])("returns 400 when the id is %s", async (id) => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "x" });
      const { error, text } = await api.delete(token, id);
      expect(error).toBe(40007);
      expect(text).toContain("id must be an integer from -9223372036854775808 to 9223372036854775807");
      expect(await api.ids(token)).toEqual(["5"]);
    });

    it.each(["", "5/", "5/6", "/5"])("returns 404 for an unknown path when the id is %p", async (id) => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "x" });
      expect((await api.delete(token, id)).error).toBe(40401);
      expect(await api.ids(token)).toEqual(["5"]);
    });

    it.each(["0", "6", "-5", "55", "9223372036854775807", "-9223372036854775808"])(
      "returns 404 when the owner has no plant %s",
      async (id) => {
        const token = await service.token();
        await api.create(token, { id: 5, name: "x" });
        const { error, text } = await api.delete(token, id);
        expect(error).toBe(40400);
        expect(text).toContain(id);
        expect(await api.ids(token)).toEqual(["5"]);
      },
    );

    it("returns 404 when the plant belongs to another owner", async () => {
      const [mine, theirs] = [await service.token(), await service.token()];
      await api.create(theirs, { id: 5, name: "x" });
      expect((await api.delete(mine, 5)).error).toBe(40400);
      expect(await api.ids(theirs)).toEqual(["5"]);
    });

    it("returns 404 when the plant is already deleted", async () => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "x" });
      expect((await api.delete(token, 5)).status).toBe(204);
      expect((await api.delete(token, 5)).error).toBe(40400);
    });

    it("succeeds for exactly one of 30 concurrent deletes", async () => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "x" });
      const replies = await Promise.all(Array.from({ length: 30 }, () => api.delete(token, 5)));
      expect(replies.filter(({ status }) => status === 204)).toHaveLength(1);
      expect(replies.filter(({ error }) => error === 40400)).toHaveLength(29);
    });

    it.each([
      ["-0", "0"],
      ["00", "0"],
      ["-000", "0"],
      ["007", "7"],
      ["-007", "-7"],
      ["%35", "5"],
      ["%2D5", "-5"],
      ["%31%30", "10"],
      [`${"0".repeat(1_000)}7`, "7"],
      ["5?x=1&id=6", "5"],
      ["9007199254740993", "9007199254740993"],
      ["9223372036854775807", "9223372036854775807"],
      ["-9223372036854775808", "-9223372036854775808"],
    ])("with the id %s deletes the plant %s and no other", async (path, id) => {
      const token = await service.token();
      const neighbours = [BigInt(id) - 1n, BigInt(id) + 1n]
        .filter((each) => each === BigInt.asIntN(64, each))
        .map(String);
      for (const each of [id, ...neighbours]) await api.create(token, `{"id":${each},"name":"x"}`);
      const reply = await api.delete(token, path);
      expect([reply.status, reply.text, reply.headers.get("content-type")]).toEqual([204, "", null]);
      expect(await api.ids(token)).toEqual(neighbours);
    });

    it("does not delete another owner's plant with the same id", async () => {
      const [mine, theirs] = [await service.token(), await service.token()];
      for (const token of [mine, theirs]) await api.create(token, { id: 5, name: "x" });
      expect((await api.delete(mine, 5)).status).toBe(204);
      expect(await api.ids(theirs)).toEqual(["5"]);
    });

    it("makes the id available for another plant", async () => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "old", tag: "old" });
      await api.delete(token, 5);
      expect((await api.create(token, { id: 5, name: "new" })).status).toBe(200);
      expect((await api.list(token)).body).toEqual([{ name: "new" }]);
    });

    it("ignores a request body", async () => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "x" });
      expect((await api.send("DELETE", "/plants/5", { token, body: "{not json" })).status).toBe(204);
    });
  });
});
