import {
  CREATED_ID,
  closes,
  create,
  createHead,
  creates,
  EXISTING_ID,
  head,
  keepsOpen,
  PLANT,
  request,
  TOKEN,
} from "./exchange.ts";

const WEBSOCKET = ["Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"];
const H2C = ["Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"];
/** A masked WebSocket text frame. */
const FRAME = "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";

/** Other protocols, methods, protocol upgrades and expectations. */
export const protocols = [
  ...closes([400], {
    "the HTTP/2 connection preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    "a TLS handshake": `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${"\x8b".repeat(300)}\r\n\r\n`,
    "a method of digits": request("123", "/plants/1"),
    "a method of symbols": request("!#$%", "/plants/1"),
    "an SSH greeting": "SSH-2.0-OpenSSH_9.6\r\n",
    "an SMTP greeting": "EHLO example.org\r\n",
    "an RTSP request": "DESCRIBE rtsp://x/media RTSP/1.0\r\nCSeq: 1\r\n\r\n",
    "a SIP request": "INVITE sip:ann@x SIP/2.0\r\nTo: ann\r\n\r\n",
    "an HTTP response": "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "a Redis command": "*1\r\n$4\r\nPING\r\n",
    "a memcached command": "stats\r\n\r\n",
    "a PROXY protocol header, version 1": `PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n${request("DELETE", "/plants/1")}`,
    "a PROXY protocol header, version 2": `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc0\0\x02\x02\0\x01\0\x02${request("DELETE", "/plants/1")}`,
    "a PostgreSQL startup message": "\0\0\0\x08\x04\xd2\x16\x2f\r\n\r\n",
    JSON: `${PLANT}\r\n\r\n`,
    "an XML declaration": "<?xml version='1.0'?>\r\n\r\n",
    "all 256 byte values": `${String.fromCharCode(...Array(256).keys())}\r\n\r\n`,
    zeros: `${"\0".repeat(1_000)}\r\n\r\n`,
  }),

  // Bun closes the connection without a response when the method is not registered at IANA.
  ...closes([], {
    "a method in lower case": head("delete /plants/1 HTTP/1.1", "Host: x", `Authorization: Bearer ${TOKEN}`),
    "a method in mixed case": request("Delete", "/plants/1"),
    "an unknown method": request("FOO", "/plants/1"),
    "an unknown method that starts with a known one": request("DELETED", "/plants/1"),
    "an unknown method that ends with a known one": request("XDELETE", "/plants/1"),
    "a method of one letter": request("D", "/plants/1"),
    "a method of 1,000 letters": request("D".repeat(1_000), "/plants/1"),
  }),
  ...keepsOpen([40500], {
    ...Object.fromEntries(
      ["GET", "HEAD", "POST", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "M-SEARCH", "PURGE", "QUERY"]
        .filter((method) => method !== "HEAD")
        .map((method) => [`${method} on a plant`, request(method, "/plants/1")]),
    ),
    "another method in X-HTTP-Method-Override": request("POST", "/plants/1", "X-HTTP-Method-Override: DELETE"),
    "another method in X-HTTP-Method": request(
      "GET",
      "/plants/1",
      "X-HTTP-Method: DELETE",
      "X-Method-Override: DELETE",
    ),
    "another method in the query": request("POST", "/plants/1?_method=DELETE"),
    "another method in a form": `${request("POST", "/plants/1", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 14")}_method=DELETE`,
  }),
  ...keepsOpen([405], { "HEAD on a plant": request("HEAD", "/plants/1") }),

  ...keepsOpen([200], {
    "an upgrade to WebSocket": request("GET", "/plants", "Connection: Upgrade", ...WEBSOCKET),
    "an upgrade without a Connection": request("GET", "/plants", ...WEBSOCKET),
    "an upgrade to HTTP/2": request("GET", "/plants", "Connection: Upgrade, HTTP2-Settings", ...H2C),
    "an upgrade to TLS": request("GET", "/plants", "Connection: Upgrade", "Upgrade: TLS/1.0"),
    "an upgrade to unknown protocols": request("GET", "/plants", "Connection: Upgrade", "Upgrade: a, b/2, c"),
    "an empty expectation": request("GET", "/plants", "Expect:"),
    "an unknown expectation": request("GET", "/plants", "Expect: 200-ok"),
    "100-continue with another expectation": request("GET", "/plants", "Expect: 100-continue, x"),
    "a range": request("GET", "/plants", "Range: bytes=0-0"),
    "a thousand overlapping ranges": request("GET", "/plants", `Range: bytes=${"0-,".repeat(1_000)}0-`),
    conditions: request("GET", "/plants", 'If-Match: "x"', "If-None-Match: *", "If-Modified-Since: never"),
    "TE: trailers": request("GET", "/plants", "TE: trailers", "Connection: TE"),
    "Accept headers that exclude JSON": request(
      "GET",
      "/plants",
      "Accept: image/png",
      "Accept-Charset: utf-16",
      "Accept-Encoding: br",
    ),
    "malformed Accept headers": request("GET", "/plants", "Accept: ///;;;,,,", "Accept-Encoding: gzip;q=2;q=x,,*;q=-1"),
    "a long Keep-Alive": request("GET", "/plants", "Keep-Alive: timeout=999999999, max=-1"),
  }),
  ...keepsOpen([100, 200], { "100-continue without a body": request("GET", "/plants", "Expect: 100-continue") }),
  ...keepsOpen(
    [100, 200],
    { "100-continue with the body right after the head": create(PLANT, "Expect: 100-continue") },
    { plants: [EXISTING_ID, CREATED_ID] },
  ),
  ...creates({
    "100-continue in upper case, which gets no 100 response": create(PLANT, "Expect: 100-CONTINUE"),
    "a create with an unknown expectation": create(PLANT, "Expect: 200-maybe"),
    "a create with an upgrade to WebSocket": create(PLANT, "Connection: Upgrade", ...WEBSOCKET),
    "a create with an upgrade to HTTP/2": create(PLANT, "Connection: Upgrade, HTTP2-Settings", ...H2C),
  }),
  ...closes([100, 40005], {
    "100-continue with a Content-Length of 100 MB": createHead("Expect: 100-continue", "Content-Length: 99999999"),
  }),
  ...closes([100, 40100], {
    "100-continue without a token": head(
      "POST /plants HTTP/1.1",
      "Host: x",
      "Expect: 100-continue",
      "Content-Length: 19",
      "Connection: close",
    ),
  }),
  ...closes([200, 400], {
    "an upgrade to WebSocket, then a frame": request("GET", "/plants", "Connection: Upgrade", ...WEBSOCKET) + FRAME,
    "an upgrade to HTTP/2, then the connection preface": `${request("GET", "/plants", "Connection: Upgrade, HTTP2-Settings", ...H2C)}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
  }),
  ...closes([200], {
    "Connection: close": request("GET", "/plants", "Connection: close"),
    "Connection: Close": request("GET", "/plants", "Connection: Close"),
    "Connection: close, keep-alive": request("GET", "/plants", "Connection: close, keep-alive"),
    "Connection: keep-alive, close": request("GET", "/plants", "Connection: keep-alive, close"),
    "Connection twice": request("GET", "/plants", "Connection: keep-alive", "Connection: close"),
  }),
];
