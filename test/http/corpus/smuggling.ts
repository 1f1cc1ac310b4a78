import {
  closes,
  create,
  createHead,
  creates,
  inChunks,
  keepsOpen,
  PLANT,
  perValue,
  request,
  SMUGGLED,
} from "./exchange.ts";

/** A create with ambiguous framing: under one interpretation, its last bytes are a second request. */
const ambiguous = (...framing: string[]): string => createHead(...framing) + inChunks(PLANT) + SMUGGLED;

const TRANSFER_ENCODINGS = [
  ...["", "identity", "gzip", "chunk", "xchunked", "chunkedx", "chunked chunked", "chun ked", "'chunked'", '"chunked"'],
  ...["chunked, identity", "identity, chunked", "gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked;q=1"],
  ...["chunked;", "chunked\0", "\0chunked", "\x0bchunked", "chunked\x0c", "chunked\x7f", "\x85chunked", "\xa0chunked"],
  ...["chunked\r", "\rchunked", "chunked\xe1\xb8\x8d", "c\thunked", "chunked\n", "\nchunked"],
];
const LENGTHS = [
  ...["", "+19", "-19", "-0", "0x13", "19,19", "19, 19", "19;", "19.0", "1.9e1", "19e0", "1 9", "19 abc", "abc"],
  ...["19\0", "\x0b19", "19\x0c", "1_9", "0b10011", "0o23", "1,9", "NaN", "null", '"19"', "\xd9\xa1\xd9\xa9"],
  ...["18446744073709551635", "9223372036854775807", "18446744073709551615", "9".repeat(40), `${"0".repeat(40)}19`],
];

/** Requests with two lengths, or with a length that another program may interpret differently. */
export const smuggling = [
  ...closes([400], {
    "Content-Length, then Transfer-Encoding": ambiguous("Content-Length: 5", "Transfer-Encoding: chunked"),
    "Transfer-Encoding, then Content-Length": ambiguous("Transfer-Encoding: chunked", "Content-Length: 5"),
    "Content-Length: 29, then Transfer-Encoding": ambiguous("Content-Length: 29", "Transfer-Encoding: chunked"),
    "Content-Length: 0, then Transfer-Encoding": ambiguous("Content-Length: 0", "Transfer-Encoding: chunked"),
    "Content-Length, then Transfer-Encoding: identity": ambiguous("Content-Length: 5", "Transfer-Encoding: identity"),
    "Content-Length, then an empty Transfer-Encoding": ambiguous("Content-Length: 5", "Transfer-Encoding:"),
    "Transfer-Encoding twice": ambiguous("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    "Transfer-Encoding: chunked, then identity": ambiguous("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    "Transfer-Encoding: identity, then chunked": ambiguous("Transfer-Encoding: identity", "Transfer-Encoding: chunked"),
    "Transfer-Encoding: chunked, then unknown": ambiguous("Transfer-Encoding: chunked", "Transfer-encoding: cow"),
    "Transfer-Encoding in HTTP/1.0": ambiguous("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0"),
    "a space before Transfer-Encoding": ambiguous(" Transfer-Encoding: chunked"),
    "a tab before Transfer-Encoding": ambiguous("\tTransfer-Encoding: chunked"),
    "Transfer-Encoding in a folded line": ambiguous("X: y", " Transfer-Encoding: chunked"),
    "Transfer-Encoding in a line folded with a tab": ambiguous("X: y", "\tTransfer-Encoding: chunked"),
    "Transfer-Encoding with its value in a folded line": ambiguous("Transfer-Encoding:", " chunked"),
    "a space between Transfer-Encoding and the colon": ambiguous("Transfer-Encoding : chunked"),
    "a tab between Transfer-Encoding and the colon": ambiguous("Transfer-Encoding\t: chunked"),
    "a line feed between Transfer-Encoding and the colon": ambiguous("Transfer-Encoding\n: chunked"),
    "a NUL between Transfer-Encoding and the colon": ambiguous("Transfer-Encoding\0: chunked"),
    "a NUL before Transfer-Encoding": ambiguous("\0Transfer-Encoding: chunked"),
    "Transfer-Encoding after a bare line feed": ambiguous("X: y\nTransfer-Encoding: chunked"),
    "Transfer-Encoding after a bare carriage return": ambiguous("X: y\rTransfer-Encoding: chunked"),
    "Transfer-Encoding after two carriage returns and a line feed": ambiguous("X: y\r\r\nTransfer-Encoding: chunked"),
    "Transfer-Encoding without a colon": ambiguous("Transfer-Encoding chunked"),
    "Transfer-Encoding with an equals sign": ambiguous("Transfer-Encoding=chunked"),
    "Content-Length in a folded line": ambiguous("X: y", " Content-Length: 5"),
    "Content-Length after a bare line feed": ambiguous("X: y\nContent-Length: 5"),
    "a space between Content-Length and the colon": ambiguous("Content-Length : 5"),
    "two different lengths": ambiguous("Content-Length: 19", "Content-Length: 5"),
    "two lengths, the first one zero": ambiguous("Content-Length: 0", "Content-Length: 19"),
    "two lengths, the second empty": ambiguous("Content-Length: 19", "Content-Length:"),
    "two lengths, the first empty": ambiguous("Content-Length:", "Content-Length: 19"),
    "two lengths, the second with a sign": ambiguous("Content-Length: 19", "Content-Length: +19"),
    "two lengths, the names in different letter case": ambiguous("Content-Length: 19", "CONTENT-LENGTH: 5"),
    ...perValue(
      TRANSFER_ENCODINGS.map((value) => `Transfer-Encoding: ${value}`),
      ambiguous,
    ),
    ...perValue(
      LENGTHS.map((value) => `Content-Length: ${value}`),
      (length) => createHead(length) + PLANT + SMUGGLED,
    ),
  }),

  // Other header names do not frame a body: the body is empty, and the chunks after it are not a request.
  ...closes([40001, 400], {
    Transfer_Encoding: ambiguous("Transfer_Encoding: chunked"),
    "Transfer.Encoding": ambiguous("Transfer.Encoding: chunked"),
    "X-Transfer-Encoding": ambiguous("X-Transfer-Encoding: chunked"),
    Content_Length: ambiguous("Content_Length: 19"),
    "a body without a length": ambiguous(),
  }),

  ...creates({
    "Transfer-Encoding: Chunked": createHead("Transfer-Encoding: Chunked") + inChunks(PLANT),
    "Transfer-Encoding in capitals": createHead("TRANSFER-ENCODING: CHUNKED") + inChunks(PLANT),
    "Transfer-Encoding without a space": createHead("Transfer-Encoding:chunked") + inChunks(PLANT),
    "Transfer-Encoding surrounded by spaces and tabs": createHead("Transfer-Encoding: \t chunked \t") + inChunks(PLANT),
    "Transfer-Encoding with an empty last element": createHead("Transfer-Encoding: chunked,") + inChunks(PLANT),
    "Transfer-Encoding with an empty first element": createHead("Transfer-Encoding: , chunked") + inChunks(PLANT),
    "Content-Length with leading zeros": createHead("Content-Length: 00019") + PLANT,
    "Content-Length surrounded by spaces and tabs": createHead("Content-Length: \t 19 \t") + PLANT,
    "Content-Length without a space": createHead("content-length:19") + PLANT,
    "the same length twice": createHead("Content-Length: 19", "Content-Length: 19") + PLANT,
    "Connection names Content-Length": create(PLANT, "Connection: Content-Length"),
    "Connection names Authorization": create(PLANT, "Connection: keep-alive, Authorization"),
  }),

  ...keepsOpen([40001], { "a request in the body of a create": create(SMUGGLED) }),
  ...keepsOpen([40001], {
    "a request in the chunks of a create": createHead("Transfer-Encoding: chunked") + inChunks(SMUGGLED, 7),
  }),
  ...keepsOpen([200], {
    "a request in the body of a GET": request("GET", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a GET": request("GET", "/livez", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
    "a request in the body of a HEAD": request("HEAD", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
  }),
  ...keepsOpen([40400], {
    "a request in the body of a DELETE":
      request("DELETE", "/plants/9", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a DELETE":
      request("DELETE", "/plants/9", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
  }),
  ...keepsOpen([40401], {
    "a request in the body of a request to an unknown path":
      request("POST", "/x", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a request to an unknown path":
      request("POST", "/x", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
  }),
  ...keepsOpen([40500], {
    "a request in the body of a disallowed method":
      request("PUT", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a disallowed method":
      request("PUT", "/plants", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
  }),
  ...keepsOpen([40100], {
    "a request in the body of a request without a token": `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  }),
  ...keepsOpen([40004], {
    "a request in a body of another content type":
      request("POST", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
  }),
  ...keepsOpen([40005], {
    "requests in an oversized body": create(SMUGGLED.repeat(400)),
    "requests in an oversized chunked body":
      createHead("Transfer-Encoding: chunked") + inChunks(SMUGGLED.repeat(400), 5_000),
  }),
];
