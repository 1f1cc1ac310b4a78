declare global {
  interface JSON {
    /** A value that `JSON.stringify` writes as `text`, which must be a JSON primitive (ECMAScript 2026, 25.5.3). */
    rawJSON(text: string): unknown;
  }
}

/**
 * Reads JSON without losing an integer. Integers come as `number` where that is exact and as `bigint` beyond;
 * in a text that holds fraction or exponent forms every number is either an exact `bigint` or `NaN`.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): unknown {
  // Almost every body has only small plain integers, which JSON.parse reads exactly, and four times as fast.
  if (!/\d[.eE]|\d{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, { source }: { source?: string } = {}) =>
    typeof value === "number" ? (exactInteger(source as string) ?? Number.NaN) : value,
  );
}

/** Writes JSON; every `bigint` becomes a JSON number, digit for digit. */
export function stringifyJson(value: unknown, space?: number): string {
  return JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? toJsonNumber(part) : part), space);
}

/** What `JSON.stringify` writes as this integer, digit for digit; a plain number where that is exact, for its speed. */
export function toJsonNumber(integer: bigint): unknown {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(integer));
}

/**
 * The integer that a JSON number literal stands for; `undefined` for any other number. `7.0` and `7e0` are integers
 * too (JSON Schema 2020-12 core, 4.2.3), but those forms count only where an IEEE 754 double holds the value exactly.
 */
function exactInteger(literal: string): bigint | undefined {
  if (/^-?\d+$/.test(literal)) return literal.length <= 20 ? BigInt(literal) : undefined;
  const double = Number(literal);
  if (!Number.isInteger(double)) return undefined;
  const integer = BigInt(double);
  // The double is the one nearest to the literal, so that equal digits mean equal numbers.
  return significantDigits(literal) === significantDigits(String(integer)) ? integer : undefined;
}

const significantDigits = (literal: string): string =>
  literal
    .replace(/[eE].*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+|(?<!0)0+$/g, "");
