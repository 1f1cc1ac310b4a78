declare global {
  interface JSON {
    /** Returns a value that `JSON.stringify` writes as `text`, a JSON primitive (ECMAScript 2026, 25.5.3). */
    rawJSON(text: string): unknown;
  }
}

/** Matches texts that may contain a number that `JSON.parse` rounds. Native parsing of all others takes a quarter of the time. */
const MAY_BE_ROUNDED = /\d[.eE]|\d{16}/;

/**
 * Parses JSON with every int64 exact, at any depth: as `number` where that is safe, as `bigint` otherwise. Any other
 * number becomes `NaN`. Only for responses and files: it calls a function for each value, which is too slow for requests.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJson(text: string): unknown {
  if (!MAY_BE_ROUNDED.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, { source }: { source?: string } = {}) =>
    typeof value === "number" ? exactInteger(source as string) : value,
  );
}

/**
 * Parses JSON as `JSON.parse` does, but with an exact `id` if the value is an object with a numeric one: an int64 is a
 * `number` where that is safe and a `bigint` otherwise, any other number is `NaN`. All other numbers are doubles, so the
 * time depends on the length of the text alone.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseJsonWithId(text: string): unknown {
  const value = JSON.parse(text) as { id?: unknown } | null;
  if (typeof value?.id === "number" && MAY_BE_ROUNDED.test(text)) value.id = exactInteger(findIdLiteral(text));
  return value;
}

/** Writes a value as JSON; every `bigint` becomes an exact JSON number. */
export function stringifyJson(value: unknown, space?: number): string {
  return JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? toJsonNumber(part) : part), space);
}

/** Returns a value that `JSON.stringify` writes as exactly this integer: a `number` where that is exact, for speed. */
export function toJsonNumber(integer: bigint): unknown {
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(String(integer));
}

const ID_MEMBER = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*(-?\d[\d.eE+-]*)/y;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns the literal of the outermost object's numeric `id`; the last one counts, as in `JSON.parse`. `text` must be
 * valid JSON. Reads character codes, because each string of a character beyond U+00FF takes an allocation.
 */
function findIdLiteral(text: string): string {
  let literal = "";
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x7b: // {
      case 0x5b: // [
        depth++;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth--;
        break;
      case QUOTE:
        if (depth === 1) literal = idLiteralAt(text, at) ?? literal;
        at = findStringEnd(text, at);
    }
  }
  return literal;
}

/** Returns the literal if the string that starts at `start` is the key of a numeric `id`. */
function idLiteralAt(text: string, start: number): string | undefined {
  ID_MEMBER.lastIndex = start;
  return ID_MEMBER.exec(text)?.[1];
}

/** Returns the index of the quote that ends the string that starts at `start`. */
function findStringEnd(text: string, start: number): number {
  let end = start + 1;
  for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(end)) end += code === BACKSLASH ? 2 : 1;
  return end;
}

/**
 * Returns the value of a JSON number literal if it is an int64, `NaN` for any other number. `7.0` and `7e0` are integers
 * too (JSON Schema 2020-12 core, 4.2.3), but only if an IEEE 754 double represents their value exactly.
 */
function exactInteger(literal: string): number | bigint {
  const double = Number(literal);
  // Checked first because a BigInt of 1e308 takes microseconds.
  if (!Number.isInteger(double) || Math.abs(double) > 2 ** 63) return Number.NaN;
  const isPlain = /^-?\d+$/.test(literal);
  const integer = BigInt(isPlain ? literal : double);
  // The double is the nearest one to the literal, so equal digits imply equal numbers.
  if (!isPlain && significantDigits(literal) !== significantDigits(String(integer))) return Number.NaN;
  return Number.isSafeInteger(double) ? double : integer;
}

const significantDigits = (literal: string): string =>
  literal
    .replace(/[eE].*/, "")
    .replace(/[-.]/g, "")
    .replace(/^0+|(?<!0)0+$/g, "");
