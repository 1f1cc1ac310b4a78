import { answered, ask, create, created, createHead, head, inChunks, PLANT } from "./exchange.ts";

/** Nearly the largest head and body that are read. */
const HEAD_BYTES = 15_800;
const BODY_BYTES = 65_536;

/** A text repeated up to a length. */
const filled = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));
const inHead = (unit: string): string => filled(unit, HEAD_BYTES);
/** A create whose ignored field fills the body with this JSON value. */
const withMany = (value: string): string => {
  const start = '{"id":2,"name":"x","ignored":[0';
  return create(`${start}${filled(`,${value}`, BODY_BYTES - start.length - 2)}]}`);
};
/** A create with these members up to the size limit, and its id after them. */
const withMembers = (member: string): string => {
  const end = '"id":2,"name":"x"}';
  return create(`{${filled(`${member},`, BODY_BYTES - end.length - 1)}${end}`);
};
const list = (query: string): string => ask("GET", `/plants?${query}`);
const description = (header: string): string => ask("HEAD", "/openapi.json", header);
const withCredential = (credential: string): string =>
  head("GET /plants HTTP/1.1", "Host: x", `Authorization: ${credential}`);

const NUMBERS = ["1e308", "1e22", "9e200", "1e9", "7.0", "1.5", "0e0", "5e-324", "1e400", "9223372036854775807"];
const PAIRS = ["%&", "%ff&", "%00&", "&", "=&", "a&", "%6c&", "%", "+", "%61"];

/** Requests up to the size limits that are expensive unless each step of their processing is linear and cheap. */
export const costly = [
  ...created({
    ...Object.fromEntries(NUMBERS.map((number) => [`numbers: ${number}`, withMany(number)])),
    "empty objects": withMany("{}"),
    "empty lists": withMany("[]"),
    "objects with ids": withMany('{"id":1e0}'),
    "texts like the id": withMany('"\\",\\"id\\":9"'),
    "backslashes in texts": withMany('"\\\\\\\\\\\\"'),
    "characters beyond U+FFFF": withMany('"\xf0\x9f\x8c\xb1"'),
    "members without a name": withMembers('"":1.5'),
    "an id that stands thousands of times": withMembers('"id":1e0'),
    "an escaped id that stands thousands of times": withMembers('"\\u0069\\u0064":1.5'),
    "ids that are texts": withMembers('"id" : "id"'),
    "ids with spaces": withMembers(`"id"${" ".repeat(1_000)}:${" ".repeat(1_000)}1.5`),
    "an id with 65,000 zeros after the point": create(`{"name":"x","id":2.${"0".repeat(65_000)}}`),
    "an id with an exponent of 65,000 digits": create(`{"name":"x","id":2e-${"0".repeat(65_000)}}`),
    "65,536 bytes in chunks of 1 byte": createHead("Transfer-Encoding: chunked") + inChunks(PLANT.padEnd(65_536), 1),
  }),
  ...answered([40002], {
    "an id of 65,000 digits": create(`{"name":"x","id":${filled("10", 65_000)}}`),
    "an id with 65,000 digits after the point": create(`{"name":"x","id":2.${"0".repeat(65_000)}1}`),
    "an id of 65,000 digits with an exponent": create(`{"name":"x","id":${filled("10", 65_000)}e-64998}`),
  }),
  ...answered([40005], {
    "a million bytes in chunks of 1 byte": createHead("Transfer-Encoding: chunked") + inChunks(" ".repeat(1e6), 1),
  }),

  ...answered([200], Object.fromEntries(PAIRS.map((pair) => [`a query of ${pair}`, list(inHead(pair))]))),
  ...answered([200], { "a choice of many fields": list(`fields=${inHead("id,")}id`) }),
  ...answered([40008], { "malformed percent-encodings": list(`tag=${inHead("%")}`) }),
  ...answered([40006], { "a limit of many digits": list(`limit=${inHead("9")}`) }),

  ...answered([40401], {
    ...Object.fromEntries(
      ["ey-", "ey_", "ey", "eyeyeyeyeyey.", "ey-%2e", "plt_", "plt_-", `${"a".repeat(35)}-`, "%", "%2e", "/", "?"].map(
        (unit) => [`a path of ${unit}`, ask("GET", `/x${inHead(unit)}`)],
      ),
    ),
  }),
  ...answered([40007], {
    "an id of many digits": ask("DELETE", `/plants/${inHead("9")}`),
    "an id of many percent-encodings": ask("DELETE", `/plants/${inHead("%39")}`),
  }),
  ...answered([40400], { "an id of many zeros": ask("DELETE", `/plants/${inHead("0")}9`) }),

  ...answered([200], {
    "an If-None-Match of spaces": description(`If-None-Match: a${inHead(" ")}b`),
    "an If-None-Match of many tags": description(`If-None-Match: ${inHead('"a" , ')}"b"`),
    "an If-None-Match of commas": description(`If-None-Match: ${inHead(",")}`),
    "an Accept-Encoding of many codings": description(`Accept-Encoding: ${inHead("gzip;q=0, ")}x`),
    "an Accept-Encoding of spaces": description(`Accept-Encoding: gzip${inHead(" ")}x`),
    "an Accept-Encoding of zeros": description(`Accept-Encoding: gzip;q=0.${inHead("0")}x`),
    "an X-Forwarded-For of many addresses": description(`X-Forwarded-For: ${inHead("::1,")}::1`),
    "a traceparent of many parts": description(`traceparent: ${inHead("00-")}`),
    "an X-Request-Id of many parts": description(`X-Request-Id: ${inHead("ey-")}`),
    "190 headers": ask("HEAD", "/openapi.json", ...Array.from({ length: 190 }, (_, n) => `X-${n}: ${"y".repeat(70)}`)),
  }),
  ...answered([40100], {
    "a credential of spaces after a comma": withCredential(`Basic ,a${inHead(" ")}=`),
    "a credential of commas": withCredential(`Basic ${inHead(",")}`),
    "a credential of one word after a comma": withCredential(`Basic ,${inHead("a")}`),
  }),
  ...answered([40101], {
    "a bearer token of commas": withCredential(`Bearer ${inHead(",x")}`),
    "a bearer token of ey-": withCredential(`Bearer ${inHead("ey-")}`),
  }),
  ...answered([40004], {
    "a Content-Type of spaces": `${ask("POST", "/plants", `Content-Type: application/json${inHead(" ")}x`, "Content-Length: 2")}{}`,
  }),
];
