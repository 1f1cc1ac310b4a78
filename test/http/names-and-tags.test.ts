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

  const WHITE_SPACE = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a";
  const WIDE_WHITE_SPACE = "\u2028\u2029\u202f\u205f\u3000";

  async function expectRejected(plant: object): Promise<string> {
    const token = await service.token();
    const { error, text } = await api.create(token, JSON.stringify(plant));
    expect(error).toBe(40002);
    expect(await api.ids(token)).toEqual([]);
    return text;
  }

  describe("POST /plants: name and tag", () => {
    const invalid: [string, unknown][] = [
      ["null", null],
      ["a number", 7],
      ["a boolean", true],
      ["an array", ["x"]],
      ["an object", { x: 1 }],
      ["U+0000", "a\0b"],
      ["a lone high surrogate", "a\ud800"],
      ["a lone low surrogate", "\udc00a"],
      ["surrogates in the wrong order", "\udf31\ud83c"],
    ];

    it.each<[string, unknown]>([
      ...invalid,
      ["missing", undefined],
      ["empty", ""],
      ...[...(WHITE_SPACE + WIDE_WHITE_SPACE)].map(
        (c) => [`only U+${c.charCodeAt(0).toString(16).padStart(4, "0")}`, c] as [string, string],
      ),
      ["all white space characters", WHITE_SPACE + WIDE_WHITE_SPACE],
      ["1,025 characters", "x".repeat(1025)],
      ["1,025 astral characters", "𝒳".repeat(1025)],
      ["3,000 characters", "x".repeat(3000)],
    ])("rejects an invalid name: %s", async (_description, name) => {
      expect(await expectRejected({ id: 1, name })).toContain("name must");
    });

    it.each<[string, unknown]>([
      ...invalid,
      ["256 characters", "x".repeat(256)],
      ["256 astral characters", "𝒳".repeat(256)],
    ])("rejects an invalid tag: %s", async (_description, tag) => {
      expect(await expectRejected({ id: 1, name: "x", tag })).toContain("tag must");
    });

    it("returns a message that names every invalid field", async () => {
      const text = await expectRejected({ id: "1", name: "", tag: null });
      for (const field of ["id must", "name must", "tag must"]) expect(text).toContain(field);
    });

    const valid: [string, string][] = [
      ["one character", "x"],
      ["padded", " \t x \u3000\n"],
      ["composed", "\u00e9"],
      ["decomposed", "e\u0301"],
      ["compatibility forms", "\ufb01\u2126\u00c5"],
      ["a zero width space", "\u200b"],
      ["a zero width no-break space", "\ufeff"],
      ["a control character", "\u0001"],
      ["DEL", "\u007f"],
      ["noncharacters", "\ufffe\uffff\u{1fffe}\u{10ffff}"],
      ["U+FFFD", "\ufffd"],
      ["line separators around a letter", "\u2028a\u2029"],
      ["a family", "👩‍👩‍👧‍👦"],
      ["quotes and backslashes", '"\\/\b'],
      ["right to left", "\u202eabc\u05d0"],
      ["markup", "<script>alert(1)</script>&amp;"],
      ["SQL", "x'); DROP TABLE plants; --"],
    ];

    it.each([...valid, ["1,024 characters", "x".repeat(1024)], ["1,024 astral characters", "𝒳".repeat(1024)]])(
      "stores a name unchanged: %s",
      async (_description, name) => {
        const token = await service.token();
        expect((await api.create(token, { id: 1, name })).body).toEqual({ name });
        expect((await api.list(token)).body).toEqual([{ name }]);
      },
    );

    it.each([
      ...valid,
      ["empty", ""],
      ["white space", " \u0085\u3000"],
      ["255 characters", "x".repeat(255)],
      ["255 astral characters", "𝒳".repeat(255)],
    ])("stores a tag unchanged: %s", async (_description, tag) => {
      const token = await service.token();
      expect((await api.create(token, { id: 1, name: "x", tag })).body).toEqual({ name: "x", tag });
      expect((await api.list(token, `?tag=${encodeURIComponent(tag)}`)).body).toEqual([{ name: "x", tag }]);
    });

    it("decodes JSON escapes", async () => {
      const reply = await api.create(await service.token(), '{"\\u0069d":1,"name":"\\ud83c\\udf31\\u0041\\/"}');
      expect(reply.body).toEqual({ name: "🌱A/" });
    });
  });
});
