import { answered, ask, create, created, createHead, cut, each, inChunks, PLANT, SMUGGLED } from "./exchange.ts";

/** A create whose length can be read in more than one way; what one reading leaves over is a request of its own. */
const doubtful = (...framing: string[]): string => createHead(...framing) + inChunks(PLANT) + SMUGGLED;

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

/** Requests whose length is told twice, or in a way that another program may read differently. */
export const smuggling = [
  ...cut([400], {
    "Content-Length, then Transfer-Encoding": doubtful("Content-Length: 5", "Transfer-Encoding: chunked"),
    "Transfer-Encoding, then Content-Length": doubtful("Transfer-Encoding: chunked", "Content-Length: 5"),
    "Content-Length of the whole, then Transfer-Encoding": doubtful("Content-Length: 29", "Transfer-Encoding: chunked"),
    "Content-Length of nothing, then Transfer-Encoding": doubtful("Content-Length: 0", "Transfer-Encoding: chunked"),
    "Content-Length, then Transfer-Encoding: identity": doubtful("Content-Length: 5", "Transfer-Encoding: identity"),
    "Content-Length, then an empty Transfer-Encoding": doubtful("Content-Length: 5", "Transfer-Encoding:"),
    "Transfer-Encoding twice": doubtful("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    "Transfer-Encoding: chunked, then identity": doubtful("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
    "Transfer-Encoding: identity, then chunked": doubtful("Transfer-Encoding: identity", "Transfer-Encoding: chunked"),
    "Transfer-Encoding: chunked, then unknown": doubtful("Transfer-Encoding: chunked", "Transfer-encoding: cow"),
    "Transfer-Encoding in HTTP/1.0": doubtful("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0"),
    "Transfer-Encoding behind a space": doubtful(" Transfer-Encoding: chunked"),
    "Transfer-Encoding behind a tab": doubtful("\tTransfer-Encoding: chunked"),
    "Transfer-Encoding in a folded line": doubtful("X: y", " Transfer-Encoding: chunked"),
    "Transfer-Encoding in a line folded with a tab": doubtful("X: y", "\tTransfer-Encoding: chunked"),
    "Transfer-Encoding with its value in a folded line": doubtful("Transfer-Encoding:", " chunked"),
    "Transfer-Encoding before a space": doubtful("Transfer-Encoding : chunked"),
    "Transfer-Encoding before a tab": doubtful("Transfer-Encoding\t: chunked"),
    "Transfer-Encoding before a line feed": doubtful("Transfer-Encoding\n: chunked"),
    "Transfer-Encoding before a NUL": doubtful("Transfer-Encoding\0: chunked"),
    "Transfer-Encoding behind a NUL": doubtful("\0Transfer-Encoding: chunked"),
    "Transfer-Encoding behind a bare line feed": doubtful("X: y\nTransfer-Encoding: chunked"),
    "Transfer-Encoding behind a bare carriage return": doubtful("X: y\rTransfer-Encoding: chunked"),
    "Transfer-Encoding behind two carriage returns": doubtful("X: y\r\r\nTransfer-Encoding: chunked"),
    "Transfer-Encoding without a colon": doubtful("Transfer-Encoding chunked"),
    "Transfer-Encoding with an equals sign": doubtful("Transfer-Encoding=chunked"),
    "Content-Length in a folded line": doubtful("X: y", " Content-Length: 5"),
    "Content-Length behind a bare line feed": doubtful("X: y\nContent-Length: 5"),
    "Content-Length before a space": doubtful("Content-Length : 5"),
    "two lengths": doubtful("Content-Length: 19", "Content-Length: 5"),
    "two lengths, the first of nothing": doubtful("Content-Length: 0", "Content-Length: 19"),
    "two lengths, the second empty": doubtful("Content-Length: 19", "Content-Length:"),
    "two lengths, the first empty": doubtful("Content-Length:", "Content-Length: 19"),
    "two lengths, the second with a sign": doubtful("Content-Length: 19", "Content-Length: +19"),
    "two lengths, the names in different case": doubtful("Content-Length: 19", "CONTENT-LENGTH: 5"),
    ...each(
      TRANSFER_ENCODINGS.map((value) => `Transfer-Encoding: ${value}`),
      doubtful,
    ),
    ...each(
      LENGTHS.map((value) => `Content-Length: ${value}`),
      (length) => createHead(length) + PLANT + SMUGGLED,
    ),
  }),

  // A name that is not the header's: the request has no body, and the chunks that follow are no request.
  ...cut([40001, 400], {
    Transfer_Encoding: doubtful("Transfer_Encoding: chunked"),
    "Transfer.Encoding": doubtful("Transfer.Encoding: chunked"),
    "X-Transfer-Encoding": doubtful("X-Transfer-Encoding: chunked"),
    Content_Length: doubtful("Content_Length: 19"),
    "no length at all": doubtful(),
  }),

  ...created({
    "Transfer-Encoding: Chunked": createHead("Transfer-Encoding: Chunked") + inChunks(PLANT),
    "Transfer-Encoding in capitals": createHead("TRANSFER-ENCODING: CHUNKED") + inChunks(PLANT),
    "Transfer-Encoding without a space": createHead("Transfer-Encoding:chunked") + inChunks(PLANT),
    "Transfer-Encoding between spaces and tabs": createHead("Transfer-Encoding: \t chunked \t") + inChunks(PLANT),
    "Transfer-Encoding with an empty element": createHead("Transfer-Encoding: chunked,") + inChunks(PLANT),
    "Transfer-Encoding with an empty element before": createHead("Transfer-Encoding: , chunked") + inChunks(PLANT),
    "Content-Length with zeros before": createHead("Content-Length: 00019") + PLANT,
    "Content-Length between spaces and tabs": createHead("Content-Length: \t 19 \t") + PLANT,
    "Content-Length without a space": createHead("content-length:19") + PLANT,
    "the same length twice": createHead("Content-Length: 19", "Content-Length: 19") + PLANT,
    "Connection names Content-Length": create(PLANT, "Connection: Content-Length"),
    "Connection names Authorization": create(PLANT, "Connection: keep-alive, Authorization"),
  }),

  // A request in the body of another is that: a body.
  ...answered([40001], { "a request in the body of a create": create(SMUGGLED) }),
  ...answered([40001], {
    "a request in the chunks of a create": createHead("Transfer-Encoding: chunked") + inChunks(SMUGGLED, 7),
  }),
  ...answered([200], {
    "a request in the body of a GET": ask("GET", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a GET": ask("GET", "/livez", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
    "a request in the body of a HEAD": ask("HEAD", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
  }),
  ...answered([40400], {
    "a request in the body of a DELETE": ask("DELETE", "/plants/9", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a DELETE":
      ask("DELETE", "/plants/9", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
  }),
  ...answered([40401], {
    "a request in the body of an unknown path": ask("POST", "/x", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of an unknown path": ask("POST", "/x", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
  }),
  ...answered([40500], {
    "a request in the body of a wrong method": ask("PUT", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
    "a request in the chunks of a wrong method":
      ask("PUT", "/plants", "Transfer-Encoding: chunked") + inChunks(SMUGGLED),
  }),
  ...answered([40100], {
    "a request in the body of one without access": `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  }),
  ...answered([40004], {
    "a request in a body of another type": ask("POST", "/plants", `Content-Length: ${SMUGGLED.length}`) + SMUGGLED,
  }),
  ...answered([40005], {
    "requests in a body that is too large": create(SMUGGLED.repeat(400)),
    "requests in chunks that are too large":
      createHead("Transfer-Encoding: chunked") + inChunks(SMUGGLED.repeat(400), 5_000),
  }),
];
