import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import fc from "fast-check";
import { parseJson, parseJsonWithId, stringifyJson } from "../../src/domain/json.ts";
import { type Plant, parsePlant } from "../../src/domain/plant.ts";
import { int64 } from "../support/arbitraries.ts";
import { idLiteralOf, integerOf, isInt64 } from "../support/oracle.ts";

afterEach(() => mock.restore());

describe.each([
  ["parseJson", parseJson],
  ["parseJsonWithId", parseJsonWithId],
])("%s", (_, parse) => {
  const digits = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 65n }).map(String),
    fc.nat({ max: 99 }).map(String),
    fc
      .tuple(fc.nat({ max: 999 }), fc.nat({ max: 25 }))
      .map(([n, zeros]) => `${n}${"0".repeat(zeros)}`.replace(/^0+(?=\d)/, "")),
  );
  const fraction = fc.oneof(fc.constant(""), fc.stringMatching(/^[0-9]{1,25}$/), fc.stringMatching(/^0{1,25}$/));
  const exponent = fc.option(fc.integer({ min: -45, max: 45 }), { nil: undefined });

  it("accepts a number as an id exactly when it is an int64", () => {
    const literal = fc.tuple(fc.constantFrom("", "-"), digits, fraction, exponent, fc.constantFrom("e", "E", "e+"));
    let ids = 0;
    fc.assert(
      fc.property(literal, ([minus, whole, part, power, e]) => {
        const mark = (power ?? 0) < 0 ? "e" : e;
        const number = `${minus}${whole}${part === "" ? "" : `.${part}`}${power === undefined ? "" : `${mark}${power}`}`;
        const value = integerOf(number);
        const read = (): Plant => parsePlant(parse(`{"id":${number},"name":"x"}`));
        if (value === undefined || !isInt64(value)) {
          expect(read).toThrow("id must be an integer");
          return;
        }
        expect([number, read().id]).toEqual([number, value]);
        ids++;
      }),
      { numRuns: 6_000 },
    );
    expect(ids).toBeGreaterThan(500);
  });

  it("accepts exactly the texts that JSON.parse accepts", () => {
    const text = fc.oneof(fc.string({ unit: fc.constantFrom(...'{}[],:"\\ 01.5e+-ntrufals') }), fc.json());
    const outcome = (read: (text: string) => unknown, each: string): string => {
      try {
        return typeof read(each);
      } catch (error) {
        return (error as Error).name;
      }
    };
    fc.assert(
      fc.property(text, (each) => {
        expect(outcome(parse, each).replace("bigint", "number")).toBe(outcome(JSON.parse, each));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("parseJson", () => {
  it("restores values from stringifyJson exactly", () => {
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        fc.oneof(int64, fc.string({ unit: "binary" }), fc.boolean(), fc.constant(null)),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie("tree"), { maxKeys: 4 }),
      ),
    }));
    const exact = (value: unknown): unknown => {
      if (typeof value === "number") return BigInt(value);
      if (Array.isArray(value)) return value.map(exact);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, exact(each)]));
    };
    fc.assert(
      fc.property(tree, (value) => {
        expect(exact(parseJson(stringifyJson(value)))).toEqual(exact(value));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("parseJsonWithId", () => {
  /** Returns the id of a plant with this parsed `id`; `undefined` if it is invalid. */
  const idOf = (id: unknown): bigint | undefined => {
    try {
      return parsePlant({ id, name: "x" }).id;
    } catch {
      return undefined;
    }
  };
  const number = fc.oneof(
    int64.map(String),
    fc.constantFrom("1.5", "7.0", "1e308", "-0", "9007199254740993.0", "9007199254740991.4", "1e19"),
  );
  const string = fc
    .oneof(fc.string(), fc.constantFrom("id", '"id":1', '\\"', "\\", "{", "]", "🌱"))
    .map((each) => JSON.stringify(each));
  const key = fc.oneof(fc.constantFrom('"id"', '"\\u0069d"', '"i\\u0064"', '"ID"', '"\\\\id"', '"id "', '""'), string);
  const space = fc.constantFrom("", "", " ", "\t\r\n");
  const member = (of: fc.Arbitrary<string>) =>
    fc
      .tuple(space, key, space, space, of, space)
      .map(([before, name, afterName, beforeValue, value, after]) =>
        [before, name, afterName, ":", beforeValue, value, after].join(""),
      );
  const { members, value } = fc.letrec<{ members: string[]; value: string }>((tie) => ({
    members: fc.array(member(tie("value")), { maxLength: 3 }),
    value: fc.oneof(
      { maxDepth: 3 },
      fc.oneof({ weight: 3, arbitrary: number }, { weight: 2, arbitrary: string }, fc.constantFrom("null", "true")),
      fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
      tie("members").map((each) => `{${each.join(",")}}`),
    ),
  }));
  const plant = fc
    .tuple(members, number, members)
    .map(([before, id, after]) => `{${[...before, `"id":${id}`, ...after].join(",")}}`);
  const document = fc
    .tuple(space, fc.oneof({ weight: 4, arbitrary: plant }, value), space)
    .map((parts) => parts.join(""));

  it("parses the outermost id exactly and everything else like JSON.parse", () => {
    let exact = 0;
    fc.assert(
      fc.property(document, (text) => {
        const expected = JSON.parse(text) as { id?: unknown } | null;
        const parsed = parseJsonWithId(text) as { id?: unknown } | null;
        const literal = idLiteralOf(text);
        if (literal !== undefined && expected !== null && parsed !== null) {
          const id = integerOf(literal);
          const isValid = id !== undefined && isInt64(id);
          expect([text, idOf(parsed.id)]).toEqual([text, isValid ? id : undefined]);
          exact += isValid ? 1 : 0;
          expected.id = parsed.id;
        }
        expect(parsed).toEqual(expected);
      }),
      { numRuns: 5_000 },
    );
    expect(exact).toBeGreaterThan(1_000);
  });

  it("calls JSON.parse without a reviver", () => {
    const text = `{"id":9007199254740993,"name":"x","ignored":[${"1e308,".repeat(10_000)}1.5]}`;
    const parse = spyOn(JSON, "parse");
    expect(parseJsonWithId(text)).toHaveProperty("id", 9007199254740993n);
    expect(parse.mock.calls).toEqual([[text]]);
  });
});
