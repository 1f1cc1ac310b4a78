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

  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const withName = (nameBytes: number[]) => bytes('{"id":1,"name":"', nameBytes, '"}');
  const padded = (length: number) => {
    const start = '{"id":1,"name":"x","pad":"';
    return `${start}${"a".repeat(length - start.length - 2)}"}`;
  };
  const chunked = (text: string) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < text.length; i += 10_000) controller.enqueue(Buffer.from(text.slice(i, i + 10_000)));
        controller.close();
      },
    });
  const nested = (depth: number, leaf: string) =>
    `{"id":1,"name":"x","deep":${"[".repeat(depth)}${leaf}${"]".repeat(depth)}}`;

  /** Expects an error, and that no plant was created. */
  async function expectRejected(body: string | Uint8Array, error: number, headers?: Record<string, string>) {
    const token = await service.token();
    const reply = await api.create(token, body, headers);
    expect(reply.error).toBe(error);
    expect(await api.ids(token)).toEqual([]);
    return reply;
  }

  describe("POST /plants: the body", () => {
    it.each<[string, string | Uint8Array]>([
      ["empty", ""],
      ["white space", " \n"],
      ["an unfinished object", '{"id":1,"name":"x"'],
      ["a bare word", "plant"],
      ["NaN", '{"id":NaN,"name":"x"}'],
      ["an unquoted key", '{id:1,"name":"x"}'],
      ["single quotes", "{'id':1,'name':'x'}"],
      ["a trailing comma", '{"id":1,"name":"x",}'],
      ["a comment", '{"id":1,"name":"x"}//'],
      ["two values", '{"id":1,"name":"x"}{}'],
      ["a leading zero", '{"id":01,"name":"x"}'],
      ["a leading plus", '{"id":+1,"name":"x"}'],
      ["a bare fraction", '{"id":1.,"name":"x"}'],
      ["hexadecimal digits", '{"id":0x1,"name":"x"}'],
      ["a control character in a string", '{"id":1,"name":"a\nb"}'],
      ["an unknown escape", '{"id":1,"name":"\\x41"}'],
      ["60,000 open brackets", "[".repeat(60_000)],
      ["60,000 open objects", '{"a":'.repeat(12_000)],
      ["a byte order mark", bytes([0xef, 0xbb, 0xbf], '{"id":1,"name":"x"}')],
      ["a stray 0xFF", withName([0xff])],
      ["an overlong NUL", withName([0xc0, 0x80])],
      ["a surrogate in UTF-8", withName([0xed, 0xa0, 0x80])],
      ["a truncated sequence", withName([0xe2, 0x82])],
      ["a code point above U+10FFFF", withName([0xf4, 0x90, 0x80, 0x80])],
      ["UTF-16", Buffer.from('{"id":1,"name":"x"}', "utf16le")],
    ])("is rejected as malformed when it is or contains: %s", (_description, body) => expectRejected(body, 40001));

    it.each(["[]", "null", "true", "7", '"x"', '[{"id":1,"name":"x"}]'])("is rejected when it is %s", async (body) => {
      expect((await expectRejected(body, 40002)).text).toContain("object");
    });

    it.each([
      "",
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/problem+json",
      "application/jsonp",
      "application/json; charset=iso-8859-1",
      "application/json; charset=utf-16",
      "application/json, text/plain",
    ])("is rejected when its content type is %p", (type) =>
      expectRejected('{"id":1,"name":"x"}', 40004, { "Content-Type": type }),
    );

    it("is rejected when it has no content type", async () => {
      const token = await service.token();
      const head = `POST /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}`;
      const reply = await api.sendRaw(`${head}\r\nContent-Length: 19\r\n\r\n{"id":1,"name":"x"}`);
      expect(reply.error).toBe(40004);
      expect(await api.ids(token)).toEqual([]);
    });

    it.each([65_537, 100_000, 1024 * 1024])("is rejected when it has %d bytes", async (length) => {
      await expectRejected(padded(length), 40005);
      const token = await service.token();
      const headers = { "Content-Type": "application/json" };
      const reply = await api.send("POST", "/plants", { token, headers, body: chunked(padded(length)) });
      expect(reply.error).toBe(40005);
      expect(await api.ids(token)).toEqual([]);
    });

    it("is rejected because of its Content-Length before it arrives", async () => {
      const head = `POST /plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${await service.token()}`;
      const reply = await api.sendRaw(`${head}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n`);
      expect(reply.error).toBe(40005);
      expect(reply.text).toContain("65536");
    });

    it("is limited in bytes, not in characters", () =>
      expectRejected(`{"id":1,"name":"x","pad":"${"\u3000".repeat(22_000)}"}`, 40005));

    it.each<[string, (text: string) => string | ReadableStream<Uint8Array>]>([
      ["with Content-Length", (text) => text],
      ["in chunks", chunked],
    ])("is accepted with 65,536 bytes, sent %s", async (_how, wrap) => {
      const token = await service.token();
      const headers = { "Content-Type": "application/json" };
      const reply = await api.send("POST", "/plants", { token, headers, body: wrap(padded(65_536)) });
      expect(reply.text).toBe('{"name":"x"}');
    });

    it.each([
      "application/json",
      "Application/JSON",
      "application/json;charset=utf-8",
      "application/json; charset=UTF-8",
      'application/json ; charset="utf-8"',
    ])("is accepted with the content type %s", async (type) => {
      const reply = await api.create(await service.token(), { id: 1, name: "x" }, { "Content-Type": type });
      expect(reply.status).toBe(200);
    });

    it("is accepted with unknown fields, which are ignored", async () => {
      const body =
        '{"id":1,"name":"x","Tag":"no","colour":"red","owner":"other","size":1.5e400,"__proto__":{"tag":"no"}}';
      const reply = await api.create(await service.token(), body);
      expect(reply.text).toBe('{"name":"x"}');
    });

    it.each(
      ["", "1", "1.5", "1e22", "1e308", "9223372036854775807"].flatMap(
        (leaf) =>
          [
            [1_000, leaf],
            [32_740, leaf],
          ] as const,
      ),
    )("is accepted with an unknown field of %d levels around %p", async (depth, leaf) => {
      const reply = await api.create(await service.token(), nested(depth, leaf));
      expect(reply.text).toBe('{"name":"x"}');
    });

    it("has the value of the last field when a field is repeated", async () => {
      const token = await service.token();
      const reply = await api.create(token, '{"id":1.5,"name":"a","id":9007199254740993,"name":"b"}');
      expect(reply.text).toBe('{"name":"b"}');
      expect(await api.ids(token)).toEqual(["9007199254740993"]);
      expect((await api.create(token, '{"id":2,"name":"a","id":2.5}')).error).toBe(40002);
    });
  });

  describe("POST /plants: the id", () => {
    it.each([
      ["undefined", '{"name":"x"}'],
      ["inherited", '{"__proto__":{"id":1},"name":"x"}'],
      ...[
        "1.5",
        '"7"',
        '""',
        "true",
        "null",
        "[7]",
        "{}",
        "1e400",
        "-1e400",
        "1e-400",
        "0.1",
        "1.00000000000000000001",
        "9007199254740993.0",
        "9007199254740993e0",
        "900719925474099.3e1",
        "9223372036854775807.0",
        "9223372036854775808",
        "-9223372036854775809",
        "9223372036854775808.0",
        "-9223372036854777856.0",
        "1e19",
        "99999999999999999999",
        "-99999999999999999999",
        "1".repeat(400),
      ].map((id) => [id, `{"id":${id},"name":"x"}`] as const),
    ])("is rejected when it is %s", async (_id, body) => {
      const { text } = await expectRejected(body, 40002);
      expect(text).toContain("id must be an integer from -9223372036854775808 to 9223372036854775807");
    });

    it.each([
      ["0", "0"],
      ["-0", "0"],
      ["0.0", "0"],
      ["-0e5", "0"],
      ["7.0", "7"],
      ["7e0", "7"],
      ["70E-1", "7"],
      ["0.07e+2", "7"],
      ["-7.000", "-7"],
      ["1200e-2", "12"],
      ["1e18", "1000000000000000000"],
      ["9.2e18", "9200000000000000000"],
      ["9007199254740992.0", "9007199254740992"],
      ["9007199254740993", "9007199254740993"],
      ["-9007199254740993", "-9007199254740993"],
      ["9223372036854775807", "9223372036854775807"],
      ["-9223372036854775808", "-9223372036854775808"],
      ["-9223372036854775808.0", "-9223372036854775808"],
    ])("is accepted as %s and stored as %s", async (literal, id) => {
      const token = await service.token();
      expect((await api.create(token, `{"id":${literal},"name":"x"}`)).text).toBe('{"name":"x"}');
      expect(await api.ids(token)).toEqual([id]);
    });

    it("is rejected when the owner already uses it, and the existing plant is unchanged", async () => {
      const token = await service.token();
      await api.create(token, { id: 5, name: "first", tag: "t" });
      for (const body of [
        { id: 5, name: "first", tag: "t" },
        { id: 5, name: "second" },
      ]) {
        const reply = await api.create(token, body);
        expect(reply.error).toBe(40003);
        expect(reply.text).toContain("5");
      }
      expect((await api.list(token)).body).toEqual([{ name: "first", tag: "t" }]);
    });

    it("is used by exactly one of 30 concurrent creates", async () => {
      const token = await service.token();
      const replies = await Promise.all(
        Array.from({ length: 30 }, (_, i) => api.create(token, { id: 5, name: `${i}` })),
      );
      const [winner, ...others] = replies.filter(({ status }) => status === 200);
      expect(others).toEqual([]);
      expect(replies.filter(({ error }) => error === 40003)).toHaveLength(29);
      expect((await api.list(token)).body).toEqual([winner?.body]);
    });

    it("is accepted when another owner uses it", async () => {
      const [one, other] = [await service.token(), await service.token()];
      expect((await api.create(one, { id: 5, name: "one" })).status).toBe(200);
      expect((await api.create(other, { id: 5, name: "other" })).status).toBe(200);
      expect((await api.list(one)).body).toEqual([{ name: "one" }]);
      expect((await api.list(other)).body).toEqual([{ name: "other" }]);
    });
  });
});
