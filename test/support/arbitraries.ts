import fc from "fast-check";
import type { CreateHeaders, ExpectedQuery } from "./oracle.ts";

/*
 * Arbitrary input for the service, much of it nearly right. Texts for the wire have a character a byte (ISO 8859-1).
 */

const latin1 = (text: string): string => Buffer.from(text).toString("latin1");
const join = (parts: readonly string[]): string => parts.join("");
/** A byte that may stand in a line of a head, or in a part of it. */
const inLine = fc
  .oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
  .map((byte) => String.fromCharCode(byte));

/** Texts of every kind: whole code points, UTF-16 units that need not pair up, white space, any length near a limit. */
export const text = (limit: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary", minLength: limit - 2, maxLength: limit + 2, size: "max" }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
    fc.string({ unit: fc.constantFrom(..." \t\u0085\u00a0\u2003\u3000\ufeff\u200b\u180e") }),
  );

/** Ids of 64 bits, often at the bounds of what integers and doubles hold. */
export const int64: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 0n, -1n),
);

/** Integers at and beyond the bounds of 64 bits. */
const beyond = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.constantFrom(-(2n ** 63n) - 1n, 2n ** 63n, 2n ** 64n, -(2n ** 64n)),
);

const number: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: int64.map(String) },
  beyond.map(String),
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

/** A text as a JSON string, its characters escaped or not; sometimes broken. */
const string = (limit: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 9, arbitrary: text(limit).map((each) => JSON.stringify(each)) },
    { weight: 3, arbitrary: fc.tuple(text(limit), fc.nat({ max: 6 })).map(([each, n]) => escaped(each, n)) },
    fc.string({ unit: fc.constantFrom(...'\\u0d8"ntx\n\0 a') }).map((each) => `"${each}"`),
  );

/** The text as a JSON string, one in some UTF-16 units by its number. */
const escaped = (value: string, every: number): string =>
  `"${value
    .split("")
    .map((unit, at) =>
      at % (every + 1) === 0
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
const plant = fc
  .tuple(likely(number), likely(string(1_024)), fc.array(member, { maxLength: 2 }), fc.constantFrom(",", " ,\n"))
  .map(([id, name, others, comma]) => `{${[`"id":${id}`, `"name":${name}`, ...others].join(comma)}}`);
const goodPlant = fc
  .record({ id: int64, name: text(1_024), tag: fc.option(text(255), { nil: undefined }) })
  .map(({ id, ...texts }) => `{"id":${id},${JSON.stringify(texts).slice(1)}`);

/** One change to some bytes. */
interface Change {
  readonly at: number;
  readonly kind: "replace" | "insert" | "delete" | "repeat" | "cut";
  readonly length: number;
  readonly byte: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.noBias(fc.nat({ max: 10_000 })),
  kind: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom("replace", "insert", "delete", "repeat") },
    fc.constant("cut"),
  ),
  length: fc.integer({ min: 1, max: 8 }),
  byte: fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(...[...'\0\r\n \t:;,{}[]"\\0'].map((c) => c.charCodeAt(0))),
  ),
});

/** What is done to some bytes. */
export const damage: fc.Arbitrary<readonly Change[]> = fc.array(change, { minLength: 1, maxLength: 2 });

/** Bytes, one a character, after some changes. */
export const damaged = (bytes: string, changes: readonly Change[]): string =>
  changes.reduce((text, { at, kind, length, byte }) => {
    const start = at % (text.length + 1);
    const [head, tail] = [text.slice(0, start), text.slice(start)];
    if (kind === "cut") return head;
    if (kind === "repeat") return head + tail.slice(0, length) + tail;
    const middle = kind === "delete" ? "" : String.fromCharCode(byte);
    return head + middle + tail.slice(kind === "insert" ? 0 : length);
  }, bytes);

const bytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  { weight: 30, arbitrary: goodPlant.map((each) => Buffer.from(each)) },
  { weight: 30, arbitrary: plant.map((each) => Buffer.from(each)) },
  {
    weight: 20,
    arbitrary: fc
      .tuple(fc.oneof(plant, goodPlant), damage)
      .map(([each, changes]) => Buffer.from(damaged(latin1(each), changes), "latin1")),
  },
  { weight: 5, arbitrary: fc.json().map((each) => Buffer.from(each)) },
  { weight: 5, arbitrary: fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(plant, fc.constantFrom<BufferEncoding>("utf16le", "latin1"))
      .map(([each, encoding]) => Buffer.from(each, encoding)),
  },
  { weight: 2, arbitrary: plant.map((each) => Buffer.from(`\ufeff${each}`)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(goodPlant, fc.integer({ min: 65_530, max: 65_542 }))
      .map(([each, length]) => Buffer.from(latin1(each).padEnd(length), "latin1")),
  },
);

/** A body, and the sizes of the chunks that it comes in; without them it comes with its length. */
export const body: fc.Arbitrary<{ bytes: Uint8Array; chunkSizes?: number[] | undefined }> = fc.record({
  bytes,
  chunkSizes: fc.option(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }), { nil: undefined, freq: 3 }),
});

/** A create of this body. */
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
const odd = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(..."-+0123456789.eE%_,;=&?#/") }, percent, inLine),
  { maxLength: 24 },
);

/** What may stand behind `/plants/`. A `?` would begin a query. */
export const pathId: fc.Arbitrary<string> = fc.oneof(
  int64.map(String),
  beyond.map(String),
  fc
    .tuple(
      fc.constantFrom("", "-", "+", "0", "%2d", "%30", "00000"),
      int64.map(String),
      fc.constantFrom("", "", "", "", ".0", "%20", "/", "#", "e0"),
    )
    .map(join),
  odd.map((parts) => join(parts).replaceAll("?", "")),
  fc.array(inLine, { maxLength: 10 }).map((parts) => join(parts).replaceAll("?", "")),
);

/** The plants that lists are asked for. */
export const PLANTS: readonly { id: bigint; name: string; tag?: string }[] = [
  { id: -(2n ** 63n), name: "smallest" },
  { id: -1n, name: "empty", tag: "" },
  { id: 0n, name: "space", tag: "a b" },
  { id: 7n, name: "plus", tag: "a+b" },
  { id: 2n ** 53n, name: "letter", tag: "é🌱" },
  { id: 2n ** 53n + 1n, name: "replacement", tag: "\ufffd" },
  { id: 2n ** 63n - 1n, name: "largest", tag: "a b" },
];

/** What a list of {@link PLANTS} has to be. */
export function listOf({ limit = PLANTS.length, after, tag, fields }: ExpectedQuery): {
  text: string;
  isLast: boolean;
} {
  const meant = PLANTS.filter(
    (each) => (after === undefined || each.id > after) && (tag === undefined || each.tag === tag),
  );
  const shown = meant.slice(0, limit).map(({ id, name, tag: own }) => {
    const members = [
      fields.includes("id") ? `"id":${id}` : "",
      fields.includes("name") ? `"name":${JSON.stringify(name)}` : "",
      fields.includes("tag") && own !== undefined ? `"tag":${JSON.stringify(own)}` : "",
    ];
    return `{${members.filter((each) => each !== "").join(",")}}`;
  });
  return { text: `[${shown.join(",")}]`, isLast: meant.length <= limit };
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
  fc.tuple(fc.constantFrom("limit", "after", "tag", "fields", "x", "", "LIMIT", "%ff"), odd.map(join)),
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
  odd.map(join),
  fc.array(inLine, { maxLength: 20 }).map(join),
);

/** The headers of a create that a test looks at. */
export interface AnyHeaders extends CreateHeaders {
  readonly requestId: readonly string[];
}

const value = fc.oneof(
  fc
    .array(fc.oneof({ weight: 5, arbitrary: inLine }, fc.constantFrom(" ", "\t", ",", "\x7f", "\xa0")), {
      maxLength: 12,
    })
    .map(join),
  fc.integer({ min: 120, max: 260 }).map((length) => "k".repeat(length)),
);
/** Mostly once one of the good values, at times slightly changed, sometimes none or two. */
const header = (...good: string[]): fc.Arbitrary<string[]> => {
  const changed = fc
    .tuple(fc.constantFrom(...good), fc.nat({ max: 80 }), fc.constantFrom(...' \t,;="\xa0\x85x\x7f'))
    .map(([each, at, extra]) => `${each.slice(0, at)}${extra}${each.slice(at)}`);
  const one = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, { weight: 2, arbitrary: changed }, value);
  return fc.oneof(
    { weight: 12, arbitrary: one.map((each) => [each]) },
    fc.constant<string[]>([]),
    fc.array(one, { minLength: 2, maxLength: 3 }),
  );
};

/** The headers of creates with this token. */
export const headers = (token: string): fc.Arbitrary<AnyHeaders> =>
  fc.record({
    authorization: header(`Bearer ${token}`, `bearer ${token}`, `BEARER   ${token}`),
    contentType: header("application/json", "Application/JSON ; Charset=UTF-8", 'application/json;charset="utf-8"'),
    idempotencyKey: fc.oneof(fc.constant<string[]>([]), header("key", "!~", "k".repeat(255))),
    requestId: fc.oneof(fc.constant<string[]>([]), header("id", "x".repeat(128))),
  });

/** The headers of a create that is taken. */
export const goodHeaders = (token: string): AnyHeaders => ({
  authorization: [`Bearer ${token}`],
  contentType: ["application/json"],
  idempotencyKey: ["k".repeat(200)],
  requestId: ["x".repeat(120)],
});

/** The plant that goes with {@link headOf}. */
export const PLANT = '{"id":1,"name":"x"}';

/** The head of a create of {@link PLANT}. */
export const headOf = ({ authorization, contentType, idempotencyKey, requestId }: AnyHeaders): string =>
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
