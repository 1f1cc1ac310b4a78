import { closes, create, createHead, creates, head, keepsOpen, PLANT, perValue, request, TOKEN } from "./exchange.ts";

const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`;
const list = (...headers: string[]): string => head("GET /plants HTTP/1.1", ...headers);
const withHost = (...lines: string[]): string => list("Host: x", ...lines);
const withType = (...lines: string[]): string => request("POST", "/plants", ...lines, "Content-Length: 19") + PLANT;

const HOSTS = [
  ...["", " ", "x, y", "x y", "/", "?limit=0", "x?limit=0&", "x/plants?limit=0", "x#", "x\\y", "a@x", "http://x"],
  ...["x:99999", "x:y", "[", "[::1]", "..", "\xff", "x%00", "x\r\nHost: x", "x\r\nHost: y", "x".repeat(1_000)],
  ...["x\r\nX-Forwarded-Host: y", "x\r\nForwarded: host=y;for=z"],
];
const OTHER_CREDENTIALS = [
  ...["", "Basic YTpi", TOKEN, `Token ${TOKEN}`, `xBearer ${TOKEN}`, `"Bearer ${TOKEN}"`, `Bearer\t${TOKEN}`],
  ...[`Bearer:${TOKEN}`, `Bearer=${TOKEN}`, `Bearer\xa0${TOKEN}`, `Digest username="Bearer ${TOKEN}"`],
];
const BAD_TOKENS = [
  ...["", "x", "plt_", `${TOKEN}x`, `x${TOKEN}`, `${TOKEN}\xff`, `"${TOKEN}"`, `<${TOKEN}>`, `${TOKEN} x`, `${TOKEN};`],
  ...[TOKEN.slice(0, -1), `${TOKEN}%00`, `Bearer ${TOKEN}`, "__proto__", "x".repeat(10_000)],
];
const OTHER_TYPES = [
  ...["", "json", "text/json", "text/plain", "application/json5", "application/jsonx", "xapplication/json"],
  ...["application/json;", "application/json; charset", "application/json; charset=", "application/json; charset=utf8"],
  ...["application/json; charset=utf-16", "application/json; charset=latin1", "application/json; charset='utf-8'"],
  ...["application/json; charset=utf-8; x=y", "application/json; x=y", "application/vnd.plant+json", "application/*"],
  ...["application/json, application/json", "application/json\r\nContent-Type: application/json"],
  ...["text/plain\r\nContent-Type: application/json", "application/json\r\nContent-Type: text/plain"],
  ...["application/ json", "application /json", '"application/json"', "application/json\xff", "application\\json"],
  ...["multipart/form-data; boundary=x", "application/x-www-form-urlencoded"],
];
const BAD_KEYS = [
  ...["", "   ", "a b", "a\tb", "a, b", "\xff", "\xc3\xa9", "a\x7f", "k".repeat(256), "k".repeat(15_000)],
  ...["a\r\nIdempotency-Key: a", "a\r\nIdempotency-Key: b", "a\r\nIdempotency-Key:", "\r\nIdempotency-Key: a"],
];

/** Repeated, missing and invalid headers. */
export const headers = [
  ...closes([400], { "no Host": list(AUTHORIZATION) }),
  // The server ignores the value of Host.
  ...keepsOpen([200], {
    ...perValue(HOSTS, (host) => list(`Host: ${host}`, AUTHORIZATION)),
    "a Host header in upper case": list("HOST:X", AUTHORIZATION),
  }),

  ...keepsOpen([200], {
    "the scheme in lower case": withHost(`authorization: bearer ${TOKEN}`),
    "the scheme in upper case": withHost(`AUTHORIZATION: BEARER ${TOKEN}`),
    "spaces around the token": withHost(`Authorization:   Bearer   ${TOKEN}   `),
  }),
  ...keepsOpen([40100], {
    ...perValue(OTHER_CREDENTIALS, (credential) => withHost(`Authorization: ${credential}`)),
    "no credential": withHost(),
    "a token in Proxy-Authorization": withHost(`Proxy-${AUTHORIZATION}`),
    "a token in other headers": withHost(
      `X-${AUTHORIZATION}`,
      `X-Api-Key: ${TOKEN}`,
      `Authorization_: Bearer ${TOKEN}`,
    ),
    "a token in a cookie": withHost(`Cookie: token=${TOKEN}; Authorization=Bearer ${TOKEN}`),
    "a token in the query": head(`GET /plants?access_token=${TOKEN}&token=${TOKEN} HTTP/1.1`, "Host: x"),
    "a token in the authority of the target": head(`GET http://${TOKEN}@x/plants HTTP/1.1`, "Host: x"),
  }),
  ...keepsOpen(
    [40101],
    perValue(BAD_TOKENS, (token) => withHost(`Authorization: Bearer ${token}`)),
  ),
  ...keepsOpen([40009], {
    "two credentials": withHost(AUTHORIZATION, "Authorization: Basic YTpi"),
    "the same credential twice": withHost(AUTHORIZATION, AUTHORIZATION),
    "two credentials in different letter case": withHost(AUTHORIZATION, `authorization: bearer ${TOKEN}`),
    "two credentials in one header": withHost(`${AUTHORIZATION}, Bearer ${TOKEN}`),
    "an empty second credential": withHost(AUTHORIZATION, "Authorization:"),
  }),

  ...keepsOpen([40004], {
    ...perValue(OTHER_TYPES, (type) => withType(`Content-Type: ${type}`)),
    "no content type": withType(),
    "a content type in other headers": withType("Content_Type: application/json", "X-Content-Type: application/json"),
  }),
  ...creates({
    "a content type in upper case": withType("CONTENT-TYPE: APPLICATION/JSON"),
    "a content type surrounded by white space": withType("Content-Type: \t application/json \t"),
    "a content type with a quoted charset": withType('Content-Type: application/json;charset="UTF-8"'),
    "a content type with a space before its parameter": withType("Content-Type: application/json ; charset=utf-8"),
    // The server ignores Content-Encoding, so it rejects a compressed body as malformed JSON.
    "a Content-Encoding for an uncompressed body": create(PLANT, "Content-Encoding: gzip"),
    "Content-Language, Content-Location and Digest": create(
      PLANT,
      "Content-Language: x",
      "Content-Location: /",
      "Digest: x",
    ),
    "an Idempotency-Key of one character": create(PLANT, "Idempotency-Key: !"),
    "an Idempotency-Key of 255 characters": create(PLANT, `Idempotency-Key: ${"k".repeat(255)}`),
    "an Idempotency-Key surrounded by white space": create(PLANT, "Idempotency-Key: \t k \t"),
    "an invalid X-Request-Id": create(PLANT, "X-Request-Id: \xff \t,,,"),
    "an X-Request-Id with an encoded line end": create(PLANT, "X-Request-Id: %0d%0aX:y\\r\\nX:y"),
    "an X-Request-Id of 10,000 characters": create(PLANT, `X-Request-Id: ${"x".repeat(10_000)}`),
    "forged client addresses": create(PLANT, "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1", "Forwarded: for=_x"),
    "forged owners": create(PLANT, "X-Owner: root", "X-Plantstore-Owner: root", "From: root@x"),
  }),
  ...keepsOpen(
    [40008],
    perValue(BAD_KEYS, (key) => create(PLANT, `Idempotency-Key: ${key}`)),
  ),
  ...keepsOpen([40001], { "no body": createHead("Content-Length: 0"), "no body and no length": createHead() }),
];
