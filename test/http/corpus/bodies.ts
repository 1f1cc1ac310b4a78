import { create, createHead, creates, inChunks, keepsOpen, PLANT, perValue } from "./exchange.ts";

/** UTF-8 encoding of a text, one byte per character. */
const utf8 = (text: string): string => Buffer.from(text).toString("latin1");
const utf16 = (text: string, isBigEndian = false): string => {
  const bytes = Buffer.from(text, "utf16le");
  return (isBigEndian ? bytes.swap16() : bytes).toString("latin1");
};
const named = (name: string): string => create(`{"id":2,"name":"${name}"}`);
const padded = (length: number): string => PLANT.padEnd(length, " ");
const DEEP = '{"id":2,"name":"x","deep":';

const NUMBERS = ["1", "1.5", "7.0", "1e22", "1e308", "1e400", "9223372036854775807", "9".repeat(100)];
const IDS = [
  ...['"2"', "null", "true", "[2]", "{}", "2.5", "0.2", "1e400", "-1e400", "1e-400", "1e19", "9223372036854775808"],
  ...["-9223372036854775809", "18446744073709551618", "9007199254740993.0", "9007199254740993e0"],
  ...["2.00000000000000000001", "9".repeat(60_000), `0.${"0".repeat(60_000)}2`],
];
/** JSON values that are neither a name nor a tag. */
const VALUES = ["null", "2", "true", "[]", "{}", '"\\u0000"', '"\\ud800"', '"a\\udc00"'];

/** Bodies of creates: encodings, JSON, plants, and sizes around the limit of 64 KiB. */
export const bodies = [
  ...keepsOpen([40001], {
    "a byte order mark": create(`\xef\xbb\xbf${PLANT}`),
    "a byte order mark at the end": create(`${PLANT}\xef\xbb\xbf`),
    "UTF-16, little-endian": create(utf16(PLANT)),
    "UTF-16, big-endian": create(utf16(PLANT, true)),
    "UTF-16 with a byte order mark": create(`\xff\xfe${utf16(PLANT)}`),
    "UTF-32": create([...PLANT].map((c) => `${c}\0\0\0`).join("")),
    "UTF-7": create("+AHsAIgBpAGQAIgA6ADI-"),
    EBCDIC: create("\xc0\x7f\x89\x84\x7f\x7a\xf2\xd0"),
    "Latin-1": named("Caf\xe9"),
    "a byte that never occurs in UTF-8": named("\xfe"),
    "a lone continuation byte": named("\x80"),
    "a truncated sequence": named("\xe2\x82"),
    "an overlong slash": named("\xc0\xaf"),
    "an overlong NUL": named("\xc0\x80"),
    "an overlong quote": named("\xc0\xa2"),
    "an overlong euro sign": named("\xf0\x82\x82\xac"),
    "a surrogate": named("\xed\xa0\x80"),
    "a surrogate pair (CESU-8)": named("\xed\xa0\xbc\xed\xbc\xb1"),
    "a code point above U+10FFFF": named("\xf4\x90\x80\x80"),
    "a five-byte sequence": named("\xf8\x88\x80\x80\x80"),
    "invalid UTF-8 in an unknown field": create('{"id":2,"name":"x","y":"\xff"}'),
    "invalid UTF-8 in a field name": create('{"id":2,"name":"x","\xff":1}'),
    "invalid UTF-8 after the value": create(`${PLANT}\xff`),
    gzip: create(Buffer.from(Bun.gzipSync(PLANT)).toString("latin1"), "Content-Encoding: gzip"),
    "an empty body": create(""),
    "only spaces": create("   "),
    "a NUL": create("\0"),
    "a NUL after the value": create(`${PLANT}\0`),
    "a NUL in a name": named("a\0b"),
    "a line end in a name": named("a\r\nb"),
    "a tab in a name": named("a\tb"),
    "a form feed between values": create('{"id":2,\f"name":"x"}'),
    "a no-break space between values": create(utf8('{"id":2,\u00a0"name":"x"}')),
    "a truncated value": create(PLANT.slice(0, -1)),
    "a value followed by an open brace": create(`${PLANT}{`),
    "two values": create(`${PLANT}\n${PLANT}`),
    "a trailing comma": create('{"id":2,"name":"x",}'),
    "a comment": create('{"id":2,/**/"name":"x"}'),
    "single quotes": create("{'id':2,'name':'x'}"),
    "an unquoted field name": create('{id:2,"name":"x"}'),
    Infinity: create('{"id":2,"name":"x","y":Infinity}'),
    NaN: create('{"id":NaN,"name":"x"}'),
    undefined: create('{"id":2,"name":"x","tag":undefined}'),
    "a number with a plus sign": create('{"id":+2,"name":"x"}'),
    "a number with a leading zero": create('{"id":02,"name":"x"}'),
    "a hexadecimal number": create('{"id":0x2,"name":"x"}'),
    "a number that ends with a point": create('{"id":2.,"name":"x"}'),
    "a number that starts with a point": create('{"id":.2,"name":"x"}'),
    "a number with an empty exponent": create('{"id":2e,"name":"x"}'),
    "a number with the suffix n": create('{"id":2n,"name":"x"}'),
    "a number with an underscore": create('{"id":2_0,"name":"x"}'),
    "a lone minus sign": create('{"id":-,"name":"x"}'),
    "an invalid escape": named("\\x41"),
    "a truncated escape": named("\\u00"),
    "a backslash before the closing quote": named("\\"),
    "a URL-encoded form": create("id=2&name=x"),
    XML: create("<plant id='2'/>"),
    "JSON with a prefix against hijacking": create(`)]}',\n${PLANT}`),
    JSONP: create(`callback(${PLANT})`),
    "60,000 open arrays": create("[".repeat(60_000)),
    "10,000 open objects": create('{"a":'.repeat(10_000)),
  }),

  ...keepsOpen([40002], {
    ...perValue(["[]", "{}", "null", "true", "2", '"x"', `[${PLANT}]`, '[2,"x"]', '{"":{}}'], create),
    ...perValue(IDS, (id) => create(`{"id":${id},"name":"x"}`)),
    ...perValue([...VALUES, '""', '" "', '"\\t\\n"', '"\\udf31\\ud83c"'], (name) => create(`{"id":2,"name":${name}}`)),
    ...perValue([...VALUES, `"${"x".repeat(256)}"`], (tag) => create(`{"id":2,"name":"x","tag":${tag}}`)),
    "a name of 1,025 characters": named("x".repeat(1_025)),
    "a name of 1,025 characters above U+FFFF": named(utf8("🌱".repeat(1_025))),
    "a name of 20,000 letters": named("x".repeat(20_000)),
    "the fields in __proto__": create('{"__proto__":{"id":2,"name":"x"}}'),
    "the fields in constructor.prototype": create('{"constructor":{"prototype":{"id":2,"name":"x"}}}'),
    "field names in another case": create('{"ID":2,"Name":"x"}'),
    "the id twice, the second invalid": create('{"id":2,"id":2.5,"name":"x"}'),
    "the name twice, the second invalid": create('{"id":2,"name":"x","name":""}'),
  }),

  ...creates({
    "white space between all tokens": create('\t\r\n { "id" : 2 , "name" : "x" } \r\n\t'),
    "escapes in names and values": create('{"\\u0069\\u0064":2,"\\u006eame":"\\u0078"}'),
    "an id with a fraction of zeros": create('{"id":2.000,"name":"x"}'),
    "an id with an exponent": create('{"id":200e-2,"name":"x"}'),
    "the id twice, the second valid": create('{"id":null,"id":2,"name":"x"}'),
    "unknown fields of all types": create('{"id":2,"name":"x","a":null,"b":[{}],"c":1e999,"":"\\ud800","id ":3}'),
    "unknown fields named like members of Object.prototype": create(
      '{"id":2,"name":"x","__proto__":{"tag":1},"toString":1,"constructor":1}',
    ),
    "arrays as deep as 64 KiB allow": create(`${DEEP}${"[".repeat(32_754)}${"]".repeat(32_754)}}`),
    ...Object.fromEntries(
      NUMBERS.map((number) => [
        `a number in 32,700 arrays: ${number.slice(0, 20)}`,
        create(`${DEEP}${"[".repeat(32_700)}${number}${"]".repeat(32_700)}}`),
      ]),
    ),
    "objects as deep as 64 KiB allow": create(`${DEEP}${'{"":'.repeat(13_101)}1${"}".repeat(13_101)}}`),
    "5,000 unknown fields": create(
      `{"id":2,"name":"x"${Array.from({ length: 5_000 }, (_, n) => `,"${n}":0`).join("")}}`,
    ),
    "a name of 1,024 characters above U+FFFF": named(utf8("🌱".repeat(1_024))),
    "a name of noncharacters": named(utf8("\uffff\u{10ffff}")),
    "a name with a byte order mark": named(utf8("\ufeffx")),
    "a name with HTML": named("<script>alert(1)</script>"),
    "a name with SQL": named("x'); DROP TABLE plants; --"),
    "65,536 bytes": create(padded(65_536)),
    "65,536 bytes in one chunk": createHead("Transfer-Encoding: chunked") + inChunks(padded(65_536)),
    "65,536 bytes in many chunks": createHead("Transfer-Encoding: chunked") + inChunks(padded(65_536), 100),
  }),

  ...keepsOpen([40005], {
    "65,537 bytes": create(padded(65_537)),
    "65,537 bytes in one chunk": createHead("Transfer-Encoding: chunked") + inChunks(padded(65_537)),
    "65,537 bytes in many chunks": createHead("Transfer-Encoding: chunked") + inChunks(padded(65_537), 100),
    "a million bytes": create(padded(1_000_000)),
    "a million bytes in chunks": createHead("Transfer-Encoding: chunked") + inChunks(padded(1_000_000), 50_000),
    "a million bytes of invalid UTF-8": create("\xff".repeat(1_000_000)),
    "8 MiB": create(padded(8 * 1024 * 1024)),
  }),
];
