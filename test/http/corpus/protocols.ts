import { answered, ask, create, created, createHead, cut, head, KEPT, MADE, PLANT, TOKEN } from "./exchange.ts";

const WEBSOCKET = ["Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"];
const H2C = ["Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"];
/** A WebSocket frame with a text, masked. */
const FRAME = "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";

/** Other protocols, changes of protocol, and expectations. */
export const protocols = [
  ...cut([400], {
    "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    "a TLS handshake": `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${"\x8b".repeat(300)}\r\n\r\n`,
    "a method of digits": ask("123", "/plants/1"),
    "a method of symbols": ask("!#$%", "/plants/1"),
    "an SSH greeting": "SSH-2.0-OpenSSH_9.6\r\n",
    "an SMTP greeting": "EHLO example.org\r\n",
    "an RTSP request": "DESCRIBE rtsp://x/media RTSP/1.0\r\nCSeq: 1\r\n\r\n",
    "a SIP request": "INVITE sip:ann@x SIP/2.0\r\nTo: ann\r\n\r\n",
    "an HTTP answer": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "a Redis command": "*1\r\n$4\r\nPING\r\n",
    "a memcached command": "stats\r\n\r\n",
    "a line of the PROXY protocol": `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${ask("DELETE", "/plants/1")}`,
    "the PROXY protocol in binary": `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc0\0\x02\x02\0\x01\0\x02${ask("DELETE", "/plants/1")}`,
    "a PostgreSQL start": "\0\0\0\x08\x04\xd2\x16\x2f\r\n\r\n",
    JSON: `${PLANT}\r\n\r\n`,
    "a script": "<?xml version='1.0'?>\r\n\r\n",
    "every byte there is": `${String.fromCharCode(...Array(256).keys())}\r\n\r\n`,
    zeros: `${"\0".repeat(1_000)}\r\n\r\n`,
  }),

  // The runtime knows the registered methods, and hangs up on any other without a word.
  ...cut([], {
    "a method in small letters": head("delete /plants/1 HTTP/1.1", "Host: x", `Authorization: Bearer ${TOKEN}`),
    "a method in mixed case": ask("Delete", "/plants/1"),
    "an unknown method": ask("FOO", "/plants/1"),
    "an unknown method that begins like a known one": ask("DELETED", "/plants/1"),
    "an unknown method that ends like a known one": ask("XDELETE", "/plants/1"),
    "a method of one letter": ask("D", "/plants/1"),
    "a method of 1,000 letters": ask("D".repeat(1_000), "/plants/1"),
  }),
  ...answered([40500], {
    ...Object.fromEntries(
      ["GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "M-SEARCH", "PURGE", "QUERY"]
        .filter((method) => method !== "HEAD")
        .map((method) => [`${method} of a plant`, ask(method, "/plants/1")]),
    ),
    "another method in X-HTTP-Method-Override": ask("POST", "/plants/1", "X-HTTP-Method-Override: DELETE"),
    "another method in X-HTTP-Method": ask("GET", "/plants/1", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE"),
    "another method in the query": ask("POST", "/plants/1?_method=DELETE"),
    "another method in a form": `${ask("POST", "/plants/1", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 14")}_method=DELETE`,
  }),
  ...answered([405], { "HEAD of a plant": ask("HEAD", "/plants/1") }),

  ...answered([200], {
    "an upgrade to WebSocket": ask("GET", "/plants", "Connection: Upgrade", ...WEBSOCKET),
    "an upgrade without a Connection": ask("GET", "/plants", ...WEBSOCKET),
    "an upgrade to HTTP/2": ask("GET", "/plants", "Connection: Upgrade, HTTP2-Settings", ...H2C),
    "an upgrade to TLS": ask("GET", "/plants", "Connection: Upgrade", "Upgrade: TLS/1.0"),
    "an upgrade to what nobody knows": ask("GET", "/plants", "Connection: Upgrade", "Upgrade: a, b/2, c"),
    "an expectation of nothing": ask("GET", "/plants", "Expect:"),
    "an unknown expectation": ask("GET", "/plants", "Expect: 200-ok"),
    "an expectation with another": ask("GET", "/plants", "Expect: 100-continue, x"),
    "a range": ask("GET", "/plants", "Range: bytes=0-0"),
    "ranges that overlap a thousand times": ask("GET", "/plants", `Range: bytes=${"0-,".repeat(1_000)}0-`),
    conditions: ask("GET", "/plants", 'If-Match: "x"', "If-None-Match: *", "If-Modified-Since: never"),
    "a wish for trailers": ask("GET", "/plants", "TE: trailers", "Connection: TE"),
    "a wish for another type": ask(
      "GET",
      "/plants",
      "Accept: image/png",
      "Accept-Charset: utf-16",
      "Accept-Encoding: br",
    ),
    "a wish of nonsense": ask("GET", "/plants", "Accept: ///;;;,,,", "Accept-Encoding: gzip;q=2;q=x,,*;q=-1"),
    "a long Keep-Alive": ask("GET", "/plants", "Keep-Alive: timeout=999999999, max=-1"),
  }),
  ...answered([100, 200], { "100-continue without a body": ask("GET", "/plants", "Expect: 100-continue") }),
  ...answered(
    [100, 200],
    { "100-continue with the body at once": create(PLANT, "Expect: 100-continue") },
    { plants: [KEPT, MADE] },
  ),
  ...created({
    "100-continue in capitals, which is not answered": create(PLANT, "Expect: 100-CONTINUE"),
    "an unknown expectation of a create": create(PLANT, "Expect: 200-maybe"),
    "an upgrade of a create": create(PLANT, "Connection: Upgrade", ...WEBSOCKET),
    "an upgrade of a create to HTTP/2": create(PLANT, "Connection: Upgrade, HTTP2-Settings", ...H2C),
  }),
  ...cut([100, 40005], {
    "100-continue for a huge body": createHead("Expect: 100-continue", "Content-Length: 99999999"),
  }),
  ...cut([100, 40100], {
    "100-continue without access": head(
      "POST /plants HTTP/1.1",
      "Host: x",
      "Expect: 100-continue",
      "Content-Length: 19",
      "Connection: close",
    ),
  }),
  ...cut([200, 400], {
    "an upgrade to WebSocket, then a frame": ask("GET", "/plants", "Connection: Upgrade", ...WEBSOCKET) + FRAME,
    "an upgrade to HTTP/2, then its preface": `${ask("GET", "/plants", "Connection: Upgrade, HTTP2-Settings", ...H2C)}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  }),
  ...cut([200], {
    "Connection: close": ask("GET", "/plants", "Connection: close"),
    "Connection: Close": ask("GET", "/plants", "Connection: Close"),
    "Connection: close, keep-alive": ask("GET", "/plants", "Connection: close, keep-alive"),
    "Connection: keep-alive, close": ask("GET", "/plants", "Connection: keep-alive, close"),
    "Connection twice": ask("GET", "/plants", "Connection: keep-alive", "Connection: close"),
  }),
];
