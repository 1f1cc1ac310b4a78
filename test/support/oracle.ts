import { isUtf8 } from "node:buffer";

/*
 * A test oracle: the contract's rules for untrusted input, implemented a second time without regard to speed. Strings
 * from the wire have one character per byte (ISO 8859-1). Input with several problems may be rejected with any of the
 * given error numbers, because the contract does not define their order.
 */

/** The expected result for an input: accepted as this value, or rejected with one of these error numbers. */
export type Expectation<Value> = { readonly value: Value } | { readonly errors: readonly number[] };

/** The expected result of parsing a create. */
export interface ExpectedPlant {
  readonly id: bigint;
  readonly name: string;
  readonly tag: string | undefined;
}

/** The expected result of parsing a list query. */
export interface ExpectedQuery {
  readonly limit: number | undefined;
  readonly after: bigint | undefined;
  readonly tag: string | undefined;
  readonly fields: readonly string[];
}

const MAX_BODY_BYTES = 65_536;
type Reviver = (this: unknown, key: string, value: unknown, context?: { source?: string }) => unknown;
const reject = (...errors: number[]) => ({ errors });

/** Returns whether an integer fits into 64 bits, signed. */
export const isInt64 = (value: bigint): boolean => value === BigInt.asIntN(64, value);

/** Returns whether a value is well-formed Unicode of `min` to `max` code points, without U+0000. */
const isText = (value: unknown, min: number, max: number): value is string =>
  typeof value === "string" &&
  Array.from(value).length >= min &&
  Array.from(value).length <= max &&
  !/\0|\p{Surrogate}/u.test(value);

/** Returns whether a value is a valid name. */
export const isName = (value: unknown): value is string => isText(value, 1, 1_024) && /\P{White_Space}/u.test(value);

/** Returns whether a value is a valid tag. */
export const isTag = (value: unknown): value is string => isText(value, 0, 255);

/**
 * Returns the integer value of a JSON number, or `undefined`. A number with a fraction or an exponent counts only if a
 * double represents its value exactly.
 */
export function integerOf(literal: string): bigint | undefined {
  const [, minus = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = BigInt(minus + whole + fraction);
  if (digits === 0n) return 0n;
  const shift = Number(exponent) - fraction.length;
  if (Math.abs(shift) > 10_000) return undefined;
  const divisor = 10n ** BigInt(Math.max(-shift, 0));
  const scaled = digits * 10n ** BigInt(Math.max(shift, 0));
  if (scaled % divisor !== 0n) return undefined;
  const value = scaled / divisor;
  const isInteger = /^-?\d+$/.test(literal);
  return isInteger || (Number.isFinite(Number(value)) && BigInt(Number(value)) === value) ? value : undefined;
}

/** Returns the number literal of the outermost object's `id` in a JSON text; `undefined` when the `id` is not a number. */
export function idLiteralOf(text: string): string | undefined {
  const idLiterals = new Map<unknown, string>();
  const value = JSON.parse(text, function (this: unknown, key, each, { source = "" } = {}) {
    if (key === "id") {
      if (typeof each === "number") idLiterals.set(this, source);
      else idLiterals.delete(this);
    }
    return each;
  } satisfies Reviver);
  return idLiterals.get(value);
}

/**
 * Returns the expected result of parsing the body of a create. `isDescribed` validates it against the OpenAPI schema,
 * with ids rounded to doubles.
 */
export function expectedPlant(body: Uint8Array, isDescribed: (plant: unknown) => boolean): Expectation<ExpectedPlant> {
  if (body.length > MAX_BODY_BYTES) return reject(40005);
  if (!isUtf8(body)) return reject(40001);
  const text = Buffer.from(body).toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return reject(40001);
  }
  const literal = idLiteralOf(text);
  const id = literal === undefined ? undefined : integerOf(literal);
  if (id === undefined || !isInt64(id) || !isDescribed(value)) return reject(40002);
  const { name, tag } = value as { name: unknown; tag?: unknown };
  if (!isName(name) || !(tag === undefined || isTag(tag))) return reject(40002);
  return { value: { id, name, tag } };
}

/** Returns the expected id of a path, given the part between `/plants/` and the query. */
export function expectedId(path: string): Expectation<bigint> {
  if (path === "" || path.includes("/")) return reject(40401);
  const text = decode(path) ?? path;
  return /^-?[0-9]+$/.test(text) && isInt64(BigInt(text)) ? { value: BigInt(text) } : reject(40007);
}

/** Returns the expected result of parsing a list query. */
export function expectedQuery(query: string): Expectation<ExpectedQuery> {
  const parameters: Partial<Record<string, string>> = {};
  const errors: number[] = [];
  for (const pair of query.split("&")) {
    const [, rawName = "", rawValue = ""] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
    const name = decode(rawName.replaceAll("+", " "));
    if (name === undefined || !["limit", "after", "tag", "fields"].includes(name)) continue;
    const value = decode(rawValue.replaceAll("+", " "));
    const earlier = parameters[name];
    if (value === undefined || (earlier !== undefined && name !== "fields")) errors.push(40008);
    parameters[name] = earlier === undefined ? (value ?? "") : `${earlier},${value ?? ""}`;
  }
  const { limit, after, tag, fields } = parameters;
  const isDigits = (text: string) => /^[0-9]+$/.test(text);
  if (limit !== undefined && !(isDigits(limit) && BigInt(limit) >= 1n && BigInt(limit) < 2n ** 31n)) errors.push(40006);
  if (after !== undefined && !(isDigits(after.replace(/^-/, "")) && isInt64(BigInt(after)))) errors.push(40007);
  if (tag !== undefined && !isTag(tag)) errors.push(40008);
  const chosen = fields?.split(",") ?? ["name", "tag"];
  if (!chosen.every((field) => ["id", "name", "tag"].includes(field))) errors.push(40008);
  if (errors.length > 0) return { errors };
  return {
    value: {
      limit: limit === undefined ? undefined : Number(limit),
      after: after === undefined ? undefined : BigInt(after),
      tag,
      fields: chosen,
    },
  };
}

/** The header values of a create, one per occurrence. */
export interface CreateHeaders {
  readonly authorization: readonly string[];
  readonly contentType: readonly string[];
  readonly idempotencyKey: readonly string[];
}

/** Returns the expected result of authorizing and parsing these headers of a create, given the valid token. */
export function expectedHeaders(headers: CreateHeaders, token: string): Expectation<true> {
  const [authorization, contentType, idempotencyKey] = [
    headers.authorization.map(trim),
    headers.contentType.map(trim),
    headers.idempotencyKey.map(trim),
  ];
  const isOwn = (credential = "") => /^bearer +/i.test(credential) && credential.replace(/^bearer +/i, "") === token;
  if (authorization.length > 1 && authorization.some(isOwn)) return reject(40009);
  if (authorization.length !== 1 || !isOwn(authorization[0])) return reject(40009, 40100, 40101);
  const errors: number[] = [];
  if (idempotencyKey.length > 1 || !idempotencyKey.every((key) => isVisible(key, 255))) errors.push(40008);
  if (contentType.length !== 1 || !isJsonType(contentType[0] ?? "")) errors.push(40004);
  return errors.length > 0 ? { errors } : { value: true };
}

/** Returns whether a text is 1 to `max` visible ASCII characters. */
export const isVisible = (text: string, max: number): boolean =>
  text.length >= 1 && text.length <= max && [...text].every((c) => c > " " && c < "\x7f");

/** Returns a header's value without the white space around it (RFC 9110, 5.5). */
export const trim = (value: string): string => value.replace(/^[ \t]+|[ \t]+$/g, "");

function isJsonType(value: string): boolean {
  const [type = "", parameter, ...more] = value.split(";").map((part) => trim(part).toLowerCase());
  const isUtf8Named = parameter === undefined || ["charset=utf-8", 'charset="utf-8"'].includes(parameter);
  return type === "application/json" && isUtf8Named && more.length === 0;
}

/**
 * Decodes percent-encoding; `undefined` when it is malformed or not UTF-8. Bytes that are neither encoded nor UTF-8
 * become U+FFFD.
 */
function decode(text: string): string | undefined {
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return undefined;
  const decoded: number[] = [];
  const plain = Buffer.from(Buffer.from(text, "latin1").toString()).toString("latin1");
  for (let at = 0; at < plain.length; at++) {
    const isEncoded = plain[at] === "%";
    decoded.push(isEncoded ? Number.parseInt(plain.slice(at + 1, at + 3), 16) : plain.charCodeAt(at));
    if (isEncoded) at += 2;
  }
  const bytes = Buffer.from(decoded);
  return isUtf8(bytes) ? bytes.toString() : undefined;
}
