import fc from "fast-check";
import type { CreateHeaders, ExpectedQuery } from "./oracle.ts";

/*
 * fast-check arbitraries for requests, many of them almost valid. Strings for the wire have one character per byte
 * (ISO 8859-1).
 */

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
const join = (parts: readonly string[]): string => parts.join("");
/** A byte other than white space and control characters. */
const visibleByte = fc
  .oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
  .map((byte) => String.fromCharCode(byte));

/** Strings of code points, of UTF-16 units with lone surrogates, of white space, and with lengths around a limit. */
export const text = (limit: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary", minLength: limit - 2, maxLength: limit + 2, size: "max" }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
    fc.string({ unit: fc.constantFrom(..." \t\u0085\u00a0\u2003\u3000\ufeff\u200b\u180e") }),
  );

/** 64-bit integers, often at the bounds of int64 and of exact doubles. */
export const int64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n, -1n),
);

/** Integers of up to 71 bits, many of them just outside int64. */
const largeInteger = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.constantFrom(-(2n ** 63n) - 1n, 2n ** 63n, 2n ** 64n, -(2n ** 64n)),
);

const number: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: int64.map(String) },
  largeInteger.map(String),
  fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.oneof(
        fc.nat({ max: 999 }).map(String),
        int64.map((id) => String(id).replace("-", "")),
      ),
      fc.oneof(fc.constant(""), fc.stringMatching(/^\.[0-9]{1,20}$/), fc.stringMatching(/^\.0{1,20}$/)),
      fc.oneof(fc.constant(""), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
    )
    .map(join),
  fc.constantFrom(
    "-0",
    "-0.0e9",
    "1e400",
    "9".repeat(400),
    "01",
    "+1",
    "1.",
    ".5",
    "-",
    "1e",
    "0x1",
    "1n",
    "1_0",
    "NaN",
  ),
);

/** JSON strings with and without escapes, some of them malformed. */
const string = (limit: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 9, arbitrary: text(limit).map((each) => JSON.stringify(each)) },
    { weight: 3, arbitrary: fc.tuple(text(limit), fc.nat({ max: 6 })).map(([each, n]) => escaped(each, n)) },
    fc.string({ unit: fc.constantFrom(...'\\u0d8"ntx\n\0 a') }).map((each) => `"${each}"`),
  );

/** Encodes a text as a JSON string in which one of every `skipped + 1` UTF-16 units is a `\u` escape. */
const escaped = (value: string, skipped: number): string =>
  `"${value
    .split("")
    .map((unit, at) =>
      at % (skipped + 1) === 0
        ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(unit).slice(1, -1),
    )
    .join("")}"`;

const likely = (arbitrary: fc.Arbitrary<string>) => fc.oneof({ weight: 9, arbitrary }, fc.json({ maxDepth: 1 }));
const member = fc.oneof(
  { weight: 4, arbitrary: likely(number).map((each) => `"id":${each}`) },
  { weight: 4, arbitrary: likely(string(1_024)).map((each) => `"name":${each}`) },
  { weight: 2, arbitrary: likely(string(255)).map((each) => `"tag":${each}`) },
  fc.tuple(string(5), fc.json({ maxDepth: 2 })).map((parts) => parts.join(":")),
  fc.constantFrom('"__proto__":{"id":1}', '"\\u0069d":7', '"ID":1', '"constructor":{}', "", "1"),
);
const plantLike = fc
  .tuple(likely(number), likely(string(1_024)), fc.array(member, { maxLength: 2 }), fc.constantFrom(",", " ,\n"))
  .map(([id, name, others, comma]) => `{${[`"id":${id}`, `"name":${name}`, ...others].join(comma)}}`);
const validPlant = fc
  .record({ id: int64, name: text(1_024), tag: fc.option(text(255), { nil: undefined }) })
  .map(({ id, ...texts }) => `{"id":${id},${JSON.stringify(texts).slice(1)}`);

/** A change of a byte sequence. */
interface Mutation {
  readonly at: number;
  readonly kind: "replace" | "insert" | "delete" | "repeat" | "truncate";
  readonly length: number;
  readonly byte: number;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.noBias(fc.nat({ max: 10_000 })),
  kind: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom("replace", "insert", "delete", "repeat") },
    fc.constant("truncate"),
  ),
  length: fc.integer({ min: 1, max: 8 }),
  byte: fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(...[...'\0\r\n \t:;,{}[]"\\0'].map((c) => c.charCodeAt(0))),
  ),
});

/** One or two changes of a byte sequence. */
export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(mutation, { minLength: 1, maxLength: 2 });

/** Applies changes to bytes, given as one character per byte. */
export const mutate = (bytes: string, changes: readonly Mutation[]): string =>
  changes.reduce((text, { at, kind, length, byte }) => {
    const start = at % (text.length + 1);
    const [head, tail] = [text.slice(0, start), text.slice(start)];
    if (kind === "truncate") return head;
    if (kind === "repeat") return head + tail.slice(0, length) + tail;
    const middle = kind === "delete" ? "" : String.fromCharCode(byte);
    return head + middle + tail.slice(kind === "insert" ? 0 : length);
  }, bytes);

const bytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 30, arbitrary: validPlant.map((each) => Buffer.from(each)) },
  { weight: 30, arbitrary: plantLike.map((each) => Buffer.from(each)) },
  {
    weight: 20,
    arbitrary: fc
      .tuple(fc.oneof(plantLike, validPlant), mutations)
      .map(([each, changes]) => Buffer.from(mutate(latin1(each), changes), "latin1")),
  },
  { weight: 5, arbitrary: fc.json().map((each) => Buffer.from(each)) },
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(plantLike, fc.constantFrom<BufferEncoding>("utf16le", "latin1"))
      .map(([each, encoding]) => Buffer.from(each, encoding)),
  },
  { weight: 2, arbitrary: plantLike.map((each) => Buffer.from(`\ufeff${each}`)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(validPlant, fc.integer({ min: 65_530, max: 65_542 }))
      .map(([each, length]) => Buffer.from(latin1(each).padEnd(length), "latin1")),
  },
);

/** A body and the sizes of its chunks. Without chunk sizes it is sent with a `Content-Length`. */
export const body: fc.Arbitrary<{ bytes: Uint8Array; chunkSizes?: number[] | undefined }> = fc.record({
  bytes,
  chunkSizes: fc.option(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }), { nil: undefined, freq: 3 }),
});

/** Returns a create with this body. */
export function createWith(token: string, bytes: Uint8Array, chunkSizes?: readonly number[]): Uint8Array {
  const framing = chunkSizes === undefined ? `Content-Length: ${bytes.length}` : "Transfer-Encoding: chunked";
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`;
  if (chunkSizes === undefined) return Buffer.concat([Buffer.from(head), bytes]);
  const parts: Uint8Array[] = [Buffer.from(head)];
  let from = 0;
  for (const size of [...chunkSizes, bytes.length]) {
    const chunk = bytes.subarray(from, from + size);
    from += size;
    if (chunk.length > 0) parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

const percent = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, "0")}`);
const encoded = text(255).map((each) => encodeURIComponent(each.toWellFormed()));
const unusualParts = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(..."-+0123456789.eE%_,;=&?#/") }, percent, visibleByte),
  { maxLength: 24 },
);

/** The part of a path after `/plants/`. It contains no `?`, which would begin a query. */
export const pathId: fc.Arbitrary<string> = fc.oneof(
  int64.map(String),
  largeInteger.map(String),
  fc
    .tuple(
      fc.constantFrom("", "-", "+", "0", "%2d", "%30", "00000"),
      int64.map(String),
      fc.constantFrom("", "", "", "", ".0", "%20", "/", "#", "e0"),
    )
    .map(join),
  unusualParts.map((parts) => join(parts).replaceAll("?", "")),
  fc.array(visibleByte, { maxLength: 10 }).map((parts) => join(parts).replaceAll("?", "")),
);

/** The stored plants that {@link query} selects from. */
export const PLANTS: readonly { id: bigint; name: string; tag?: string }[] = [
  { id: -(2n ** 63n), name: "smallest" },
  { id: -1n, name: "empty", tag: "" },
  { id: 0n, name: "space", tag: "a b" },
  { id: 7n, name: "plus", tag: "a+b" },
  { id: 2n ** 53n, name: "letter", tag: "é🌱" },
  { id: 2n ** 53n + 1n, name: "replacement", tag: "\ufffd" },
  { id: 2n ** 63n - 1n, name: "largest", tag: "a b" },
];

/** Returns the expected response to a list of {@link PLANTS}. */
export function expectedList({ limit = PLANTS.length, after, tag, fields }: ExpectedQuery): {
  text: string;
  isLast: boolean;
} {
  const matching = PLANTS.filter(
    (each) => (after === undefined || each.id > after) && (tag === undefined || each.tag === tag),
  );
  const page = matching.slice(0, limit).map(({ id, name, tag: own }) => {
    const members = [
      fields.includes("id") ? `"id":${id}` : "",
      fields.includes("name") ? `"name":${JSON.stringify(name)}` : "",
      fields.includes("tag") && own !== undefined ? `"tag":${JSON.stringify(own)}` : "",
    ];
    return `{${members.filter((each) => each !== "").join(",")}}`;
  });
  return { text: `[${page.join(",")}]`, isLast: matching.length <= limit };
}

const parameter = fc.oneof(
  fc.tuple(fc.constantFrom("limit", "%6cimit"), fc.oneof(fc.integer({ min: 1, max: 9 }).map(String), number)),
  fc.tuple(fc.constantFrom("after", "afte%72"), fc.oneof(int64.map(String), number)),
  fc.tuple(
    fc.constantFrom("tag", "t%61g"),
    fc.oneof(
      fc.constantFrom("", "a+b", "a%20b", "a%2Bb", "%c3%A9%f0%9f%8c%b1", "\xc3\xa9%f0%9f%8c%b1", "\xff"),
      encoded,
    ),
  ),
  fc.tuple(
    fc.constantFrom("fields", "field%73"),
    fc
      .array(fc.constantFrom("id", "name", "tag", "ID", "%69d", ""), { minLength: 1, maxLength: 4 })
      .map((each) => each.join(",")),
  ),
  fc.tuple(fc.constantFrom("limit", "after", "tag", "fields", "x", "", "LIMIT", "%ff"), unusualParts.map(join)),
);

/** The query of a list. */
export const query: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(
        parameter.map(([name, value]) => `${name}=${value}`),
        { maxLength: 4 },
      )
      .map((pairs) => pairs.join("&")),
  },
  unusualParts.map(join),
  fc.array(visibleByte, { maxLength: 20 }).map(join),
);

/** The header values of a create, one per occurrence. */
export interface GeneratedHeaders extends CreateHeaders {
  readonly requestId: readonly string[];
}

const value = fc.oneof(
  fc
    .array(fc.oneof({ weight: 5, arbitrary: visibleByte }, fc.constantFrom(" ", "\t", ",", "\x7f", "\xa0")), {
      maxLength: 12,
    })
    .map(join),
  fc.integer({ min: 120, max: 260 }).map((length) => "k".repeat(length)),
);
/** Generates the values of a header: usually one, valid or slightly changed; sometimes none, or two or three. */
const header = (...valid: string[]): fc.Arbitrary<string[]> => {
  const changed = fc
    .tuple(fc.constantFrom(...valid), fc.nat({ max: 80 }), fc.constantFrom(...' \t,;="\xa0\x85x\x7f'))
    .map(([each, at, extra]) => `${each.slice(0, at)}${extra}${each.slice(at)}`);
  const one = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...valid) }, { weight: 2, arbitrary: changed }, value);
  return fc.oneof(
    { weight: 12, arbitrary: one.map((each) => [each]) },
    fc.constant<string[]>([]),
    fc.array(one, { minLength: 2, maxLength: 3 }),
  );
};

/** Generates the headers of creates with this token. */
export const headers = (token: string): fc.Arbitrary<GeneratedHeaders> =>
  fc.record({
    authorization: header(`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`),
    contentType: header("application/json", "Application/JSON ; Charset=UTF-8", 'application/json;charset="utf-8"'),
    idempotencyKey: fc.oneof(fc.constant<string[]>([]), header("key", "!~", "k".repeat(255))),
    requestId: fc.oneof(fc.constant<string[]>([]), header("id", "x".repeat(128))),
  });

/** Returns valid headers of a create. */
export const validHeaders = (token: string): GeneratedHeaders => ({
  authorization: [`Bearer ${token}`],
  contentType: ["application/json"],
  idempotencyKey: ["k".repeat(200)],
  requestId: ["x".repeat(120)],
});

/** The body of a request that begins with {@link headOf}. */
export const PLANT = '{"id":1,"name":"x"}';

/** Returns the head of a create of {@link PLANT}. */
export const headOf = ({ authorization, contentType, idempotencyKey, requestId }: GeneratedHeaders): string =>
  [
    "POST /plants HTTP/1.1",
    "Host: x",
    ...authorization.map((each) => `Authorization: ${each}`),
    ...contentType.map((each) => `Content-Type: ${each}`),
    ...idempotencyKey.map((each) => `Idempotency-Key: ${each}`),
    ...requestId.map((each) => `X-Request-Id: ${each}`),
    `Content-Length: ${PLANT.length}`,
    "\r\n",
  ].join("\r\n");
