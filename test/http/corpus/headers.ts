import { answered, ask, create, created, createHead, cut, each, head, PLANT, TOKEN } from "./exchange.ts";

const ACCESS = `Authorization: Bearer ${TOKEN}`;
const list = (...headers: string[]): string => head("GET /plants HTTP/1.1", ...headers);
const withAccess = (...lines: string[]): string => list("Host: x", ...lines);
const withType = (...lines: string[]): string => ask("POST", "/plants", ...lines, "Content-Length: 19") + PLANT;

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

/** Headers that stand twice, are missing, or hold what they must not. */
export const headers = [
  ...cut([400], { "no Host": list(ACCESS) }),
  // Nothing depends on Host: it is not looked at.
  ...answered([200], {
    ...each(HOSTS, (host) => list(`Host: ${host}`, ACCESS)),
    "a host in capitals": list("HOST:X", ACCESS),
  }),

  ...answered([200], {
    "the scheme in small letters": withAccess(`authorization: bearer ${TOKEN}`),
    "the scheme in capitals": withAccess(`AUTHORIZATION: BEARER ${TOKEN}`),
    "spaces around the token": withAccess(`Authorization:   Bearer   ${TOKEN}   `),
  }),
  ...answered([40100], {
    ...each(OTHER_CREDENTIALS, (credential) => withAccess(`Authorization: ${credential}`)),
    "no credential": withAccess(),
    "a token for a proxy": withAccess(`Proxy-${ACCESS}`),
    "a token under a name of its own": withAccess(
      `X-${ACCESS}`,
      `X-Api-Key: ${TOKEN}`,
      `Authorization_: Bearer ${TOKEN}`,
    ),
    "a token in a cookie": withAccess(`Cookie: token=${TOKEN}; Authorization=Bearer ${TOKEN}`),
    "a token in the query": head(`GET /plants?access_token=${TOKEN}&token=${TOKEN} HTTP/1.1`, "Host: x"),
    "a token in the target": head(`GET http://${TOKEN}@x/plants HTTP/1.1`, "Host: x"),
  }),
  ...answered(
    [40101],
    each(BAD_TOKENS, (token) => withAccess(`Authorization: Bearer ${token}`)),
  ),
  ...answered([40009], {
    "two credentials": withAccess(ACCESS, "Authorization: Basic YTpi"),
    "the same credential twice": withAccess(ACCESS, ACCESS),
    "two credentials in different case": withAccess(ACCESS, `authorization: bearer ${TOKEN}`),
    "two credentials in one line": withAccess(`${ACCESS}, Bearer ${TOKEN}`),
    "an empty second credential": withAccess(ACCESS, "Authorization:"),
  }),

  ...answered([40004], {
    ...each(OTHER_TYPES, (type) => withType(`Content-Type: ${type}`)),
    "no type": withType(),
    "a type under another name": withType("Content_Type: application/json", "X-Content-Type: application/json"),
  }),
  ...created({
    "a type in capitals": withType("CONTENT-TYPE: APPLICATION/JSON"),
    "a type with spaces around": withType("Content-Type: \t application/json \t"),
    "a type with its character set in quotes": withType('Content-Type: application/json;charset="UTF-8"'),
    "a type with a space before its parameter": withType("Content-Type: application/json ; charset=utf-8"),
    // Read by nobody: a body that is really compressed is malformed.
    "a Content-Encoding that is not true": create(PLANT, "Content-Encoding: gzip"),
    "a language, a location and a digest": create(PLANT, "Content-Language: x", "Content-Location: /", "Digest: x"),
    "an Idempotency-Key of one character": create(PLANT, "Idempotency-Key: !"),
    "an Idempotency-Key of 255 characters": create(PLANT, `Idempotency-Key: ${"k".repeat(255)}`),
    "an Idempotency-Key with spaces around": create(PLANT, "Idempotency-Key: \t k \t"),
    "an X-Request-Id that is unusable": create(PLANT, "X-Request-Id: \xff \t,,,"),
    "an X-Request-Id that would end a line, were it decoded": create(PLANT, "X-Request-Id: %0d%0aX:y\\r\\nX:y"),
    "an X-Request-Id of 10,000 characters": create(PLANT, `X-Request-Id: ${"x".repeat(10_000)}`),
    "another client's address": create(
      PLANT,
      "X-Forwarded-For: 127.0.0.1",
      "X-Real-IP: 127.0.0.1",
      "Forwarded: for=_x",
    ),
    "another owner": create(PLANT, "X-Owner: root", "X-Plantstore-Owner: root", "From: root@x"),
  }),
  ...answered(
    [40008],
    each(BAD_KEYS, (key) => create(PLANT, `Idempotency-Key: ${key}`)),
  ),
  ...answered([40001], { "no body": createHead("Content-Length: 0"), "no body and no length": createHead() }),
];
