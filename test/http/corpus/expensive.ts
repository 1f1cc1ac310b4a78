import { create, createHead, creates, head, inChunks, keepsOpen, PLANT, request } from "./exchange.ts";

/** Just below the maximum head size of 16 KiB. */
const HEAD_BYTES = 15_800;
/** The maximum body size. */
const BODY_BYTES = 65_536;

/** Repeats a text up to a length. */
const filled = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));
const inHead = (unit: string): string => filled(unit, HEAD_BYTES);
/** A create with an ignored field that repeats this JSON value up to the size limit. */
const withMany = (value: string): string => {
  const start = '{"id":2,"name":"x","ignored":[0';
  return create(`${start}${filled(`,${value}`, BODY_BYTES - start.length - 2)}]}`);
};
/** A create that repeats this member up to the size limit, followed by the id and the name. */
const withMembers = (member: string): string => {
  const end = '"id":2,"name":"x"}';
  return create(`{${filled(`${member},`, BODY_BYTES - end.length - 1)}${end}`);
};
const list = (query: string): string => request("GET", `/plants?${query}`);
const description = (header: string): string => request("HEAD", "/openapi.json", header);
const withCredential = (credential: string): string =>
  head("GET /plants HTTP/1.1", "Host: x", `Authorization: ${credential}`);

const NUMBERS = ["1e308", "1e22", "9e200", "1e9", "7.0", "1.5", "0e0", "5e-324", "1e400", "9223372036854775807"];
const PAIRS = ["%&", "%ff&", "%00&", "&", "=&", "a&", "%6c&", "%", "+", "%61"];

/** Requests up to the size limits that are expensive unless each step of their processing is linear and cheap. */
export const expensive = [
  ...creates({
    ...Object.fromEntries(NUMBERS.map((number) => [`numbers: ${number}`, withMany(number)])),
    "empty objects": withMany("{}"),
    "empty arrays": withMany("[]"),
    "objects with ids": withMany('{"id":1e0}'),
    "strings that look like the id": withMany('"\\",\\"id\\":9"'),
    "strings of backslashes": withMany('"\\\\\\\\\\\\"'),
    "characters above U+FFFF": withMany('"\xf0\x9f\x8c\xb1"'),
    "members with an empty name": withMembers('"":1.5'),
    "a repeated id": withMembers('"id":1e0'),
    "a repeated id with escapes in its name": withMembers('"\\u0069\\u0064":1.5'),
    "ids that are strings": withMembers('"id" : "id"'),
    "ids with spaces": withMembers(`"id"${" ".repeat(1_000)}:${" ".repeat(1_000)}1.5`),
    "an id with 65,000 zeros after the point": create(`{"name":"x","id":2.${"0".repeat(65_000)}}`),
    "an id with an exponent of 65,000 digits": create(`{"name":"x","id":2e-${"0".repeat(65_000)}}`),
    "65,536 bytes in chunks of 1 byte": createHead("Transfer-Encoding: chunked") + inChunks(PLANT.padEnd(65_536), 1),
  }),
  ...keepsOpen([40002], {
    "an id of 65,000 digits": create(`{"name":"x","id":${filled("10", 65_000)}}`),
    "an id with 65,000 digits after the point": create(`{"name":"x","id":2.${"0".repeat(65_000)}1}`),
    "an id of 65,000 digits with an exponent": create(`{"name":"x","id":${filled("10", 65_000)}e-64998}`),
  }),
  ...keepsOpen([40005], {
    "a million bytes in chunks of 1 byte": createHead("Transfer-Encoding: chunked") + inChunks(" ".repeat(1e6), 1),
  }),

  ...keepsOpen([200], Object.fromEntries(PAIRS.map((pair) => [`a query that repeats ${pair}`, list(inHead(pair))]))),
  ...keepsOpen([200], { "a fields parameter with many fields": list(`fields=${inHead("id,")}id`) }),
  ...keepsOpen([40008], { "malformed percent-encodings": list(`tag=${inHead("%")}`) }),
  ...keepsOpen([40006], { "a limit with many digits": list(`limit=${inHead("9")}`) }),

  ...keepsOpen([40401], {
    ...Object.fromEntries(
      ["ey-", "ey_", "ey", "eyeyeyeyeyey.", "ey-%2e", "plt_", "plt_-", `${"a".repeat(35)}-`, "%", "%2e", "/", "?"].map(
        (unit) => [`a path that repeats ${unit}`, request("GET", `/x${inHead(unit)}`)],
      ),
    ),
  }),
  ...keepsOpen([40007], {
    "an id with many digits": request("DELETE", `/plants/${inHead("9")}`),
    "an id with many percent-encodings": request("DELETE", `/plants/${inHead("%39")}`),
  }),
  ...keepsOpen([40400], { "an id with many leading zeros": request("DELETE", `/plants/${inHead("0")}9`) }),

  ...keepsOpen([200], {
    "an If-None-Match with many spaces": description(`If-None-Match: a${inHead(" ")}b`),
    "an If-None-Match with many tags": description(`If-None-Match: ${inHead('"a" , ')}"b"`),
    "an If-None-Match of commas": description(`If-None-Match: ${inHead(",")}`),
    "an Accept-Encoding with many codings": description(`Accept-Encoding: ${inHead("gzip;q=0, ")}x`),
    "an Accept-Encoding with many spaces": description(`Accept-Encoding: gzip${inHead(" ")}x`),
    "an Accept-Encoding with many zeros": description(`Accept-Encoding: gzip;q=0.${inHead("0")}x`),
    "an X-Forwarded-For with many addresses": description(`X-Forwarded-For: ${inHead("::1,")}::1`),
    "a traceparent with many parts": description(`traceparent: ${inHead("00-")}`),
    "an X-Request-Id with many parts": description(`X-Request-Id: ${inHead("ey-")}`),
    "190 headers": request(
      "HEAD",
      "/openapi.json",
      ...Array.from({ length: 190 }, (_, n) => `X-${n}: ${"y".repeat(70)}`),
    ),
  }),
  ...keepsOpen([40100], {
    "a credential with many spaces after a comma": withCredential(`Basic ,a${inHead(" ")}=`),
    "a credential of commas": withCredential(`Basic ${inHead(",")}`),
    "a credential with one long word after a comma": withCredential(`Basic ,${inHead("a")}`),
  }),
  ...keepsOpen([40101], {
    "a bearer token of commas": withCredential(`Bearer ${inHead(",x")}`),
    "a bearer token of ey-": withCredential(`Bearer ${inHead("ey-")}`),
  }),
  ...keepsOpen([40004], {
    "a Content-Type with many spaces": `${request("POST", "/plants", `Content-Type: application/json${inHead(" ")}x`, "Content-Length: 2")}{}`,
  }),
];
