import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { parseJson, stringifyJson } from "../../src/domain/json.ts";
import { parseListQuery } from "../../src/domain/list-query.ts";
import { parsePlant, parsePlantId } from "../../src/domain/plant.ts";
import { LIST_PARAMETER_SCHEMAS, SCHEMAS } from "../../src/http/schemas.ts";
import { openApiAjv } from "../support/api.ts";
import { int64 } from "../support/arbitraries.ts";
import { isInt64 } from "../support/oracle.ts";

const accepts = (parse: () => unknown): boolean => {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
};

describe("parsePlantId", () => {
  it("accepts exactly an optional minus and decimal digits within int64", () => {
    const input = fc.oneof(
      fc.string({ unit: fc.constantFrom(..."-+0123456789._nex ٣"), maxLength: 25 }),
      fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
      fc
        .tuple(fc.constantFrom("", "-"), fc.nat({ max: 50 }), int64)
        .map(([minus, zeros, id]) => minus + "0".repeat(zeros) + String(id < 0n ? -id : id)),
    );
    fc.assert(
      fc.property(input, (each) => {
        const id = /^-?[0-9]+$/.test(each) ? (each.startsWith("-") ? -BigInt(each.slice(1)) : BigInt(each)) : undefined;
        expect(parsePlantId(each)).toBe(id !== undefined && isInt64(id) ? id : undefined);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("the schemas of the API description", () => {
  const validatorOf = (schema: object) => openApiAjv().compile(JSON.parse(stringifyJson(schema)));
  /** Excludes what JSON Schema cannot express: U+0000, lone surrogates and ids that a double cannot represent. */
  const text = (limit: number) =>
    fc
      .oneof(
        fc.string({ unit: "binary" }),
        fc.string({ unit: "binary", minLength: limit - 1, maxLength: limit + 1, size: "max" }),
        fc.string({ unit: fc.constantFrom(..." \t\u001f\u0085\u00a0\u180e\u200b\u2003\u2028\u3000\ufeff") }),
      )
      .filter((each) => each.isWellFormed() && !each.includes("\0"));
  const other = fc
    .oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 1 }))
    .filter((each) => !/\\u0000|\\ud/.test(JSON.stringify(each) ?? ""));

  it("accept the same plants as the domain", () => {
    const isValid = validatorOf(SCHEMAS.NewPlant);
    const likely = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 6, arbitrary }, other);
    const id = likely(
      fc.oneof(
        fc.maxSafeInteger(),
        fc.double({ min: -1e15, max: 1e15, noNaN: true }).map((x) => x / 2),
      ),
    );
    const plant = fc.record({ id, name: likely(text(1024)), tag: likely(text(255)) });
    let acceptedCount = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: plant }, other), (value) => {
        const sent = JSON.stringify(value) ?? "null";
        const isAccepted = accepts(() => parsePlant(parseJson(sent)));
        expect([sent, isAccepted]).toEqual([sent, isValid(JSON.parse(sent))]);
        acceptedCount += isAccepted ? 1 : 0;
      }),
      { numRuns: 2_000, endOnFailure: true },
    );
    expect(acceptedCount).toBeGreaterThan(200);
  });

  it.each<[keyof typeof LIST_PARAMETER_SCHEMAS, fc.Arbitrary<unknown>]>([
    [
      "limit",
      fc.oneof(
        fc.integer({ min: -5, max: 5 }),
        fc.integer({ min: 2 ** 31 - 5, max: 2 ** 31 + 5 }),
        fc.maxSafeInteger(),
      ),
    ],
    ["after", fc.oneof(fc.maxSafeInteger(), fc.constantFrom(-(2 ** 63), 2 ** 64, -(2 ** 64)))],
    ["tag", text(255)],
    ["fields", fc.array(fc.constantFrom("id", "name", "tag", "ID", "x"), { minLength: 0, maxLength: 3 })],
  ])("accept the same values of %s as the domain", (name, values) => {
    const isValid = validatorOf(LIST_PARAMETER_SCHEMAS[name].schema);
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(values, (value) => {
        const sent = typeof value === "number" ? String(BigInt(value)) : String(value);
        const isAccepted = accepts(() => parseListQuery({ [name]: sent }));
        expect([sent, isAccepted]).toEqual([sent, isValid(value)]);
        seen.add(isAccepted);
      }),
      { numRuns: 500, endOnFailure: true },
    );
    expect(seen.size).toBe(2);
  });
});
