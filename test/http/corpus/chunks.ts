import { closes, createHead, creates, inChunks, PLANT, SMUGGLED } from "./exchange.ts";

/** A create with these chunks as its body. */
const chunked = (chunks: string): string => createHead("Transfer-Encoding: chunked") + chunks;

/** Chunked bodies (RFC 9112, 7.1). 13 is the length of the plant in hexadecimal. */
export const chunks = [
  ...creates({
    "one chunk": chunked(inChunks(PLANT)),
    "one byte per chunk": chunked(inChunks(PLANT, 1)),
    "a size with leading zeros": chunked(`0013\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size with 60 leading zeros": chunked(`${"0".repeat(60)}13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a last size of ten zeros": chunked(`13\r\n${PLANT}\r\n0000000000\r\n\r\n`),
    "a size in lower case": chunked(`1b\r\n${PLANT}${" ".repeat(8)}\r\n0\r\n\r\n`),
    "a size in upper case": chunked(`1B\r\n${PLANT}${" ".repeat(8)}\r\n0\r\n\r\n`),
    "an extension": chunked(`13;a=b\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension without a value": chunked(`13;a\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension without a name": chunked(`13;\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension in quotes": chunked(`13;a="b;c"\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension with an open quote": chunked(`13;a="\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension on the last chunk": chunked(`13\r\n${PLANT}\r\n0;a=b\r\n\r\n`),
    "an extension of 1,000 bytes": chunked(`13;${"a".repeat(1_000)}\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension of 1,000 bytes for every byte": chunked(
      `${[...PLANT].map((c) => `1;${"a".repeat(1_000)}\r\n${c}\r\n`).join("")}0\r\n\r\n`,
    ),
  }),

  ...closes([400], {
    "a size with a sign": chunked(`+13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a negative size": chunked(`-13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a last size of -0": chunked(`13\r\n${PLANT}\r\n-0\r\n\r\n`),
    "a size with 0x": chunked(`0x13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size with a letter that is not hexadecimal": chunked(`1g\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size with an underscore": chunked(`1_3\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size in full-width digits": chunked(`\xef\xbc\x91\r\n${PLANT}\r\n0\r\n\r\n`),
    "a space before a size": chunked(` 13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a space after a size": chunked(`13 \r\n${PLANT}\r\n0\r\n\r\n`),
    "a tab after a size": chunked(`13\t\r\n${PLANT}\r\n0\r\n\r\n`),
    "a NUL after a size": chunked(`13\0\r\n${PLANT}\r\n0\r\n\r\n`),
    "a space before an extension": chunked(`13 ;a=b\r\n${PLANT}\r\n0\r\n\r\n`),
    "a comma instead of a semicolon": chunked(`13,a=b\r\n${PLANT}\r\n0\r\n\r\n`),
    "no size": chunked(`\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension without a size": chunked(`;a=b\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size of 2^64 - 1": chunked(`FFFFFFFFFFFFFFFF\r\n${PLANT}\r\n0\r\n\r\n${SMUGGLED}`),
    "a size of 2^64 + 19": chunked(`10000000000000013\r\n${PLANT}\r\n0\r\n\r\n${SMUGGLED}`),
    "a size of 2^63": chunked(`8000000000000000\r\n${PLANT}\r\n0\r\n\r\n${SMUGGLED}`),
    "a size of 100 digits": chunked(`${"f".repeat(100)}\r\n${PLANT}\r\n0\r\n\r\n${SMUGGLED}`),
    "a chunk longer than its size": chunked(`12\r\n${PLANT}\r\n0\r\n\r\n`),
    "a chunk shorter than its size": chunked(`14\r\n${PLANT}\r\n0\r\n\r\n${SMUGGLED}`),
    "no line end after a chunk": chunked(`13\r\n${PLANT}0\r\n\r\n`),
    "two line ends after a chunk": chunked(`13\r\n${PLANT}\r\n\r\n0\r\n\r\n`),
    "a line feed after a size": chunked(`13\n${PLANT}\r\n0\r\n\r\n`),
    "a line feed after a chunk": chunked(`13\r\n${PLANT}\n0\r\n\r\n`),
    "a line feed at the end of an extension": chunked(`13;a=\n${PLANT}\r\n0\r\n\r\n${SMUGGLED}`),
    "a carriage return after a size": chunked(`13\r${PLANT}\r\n0\r\n\r\n`),
    "a carriage return after a chunk": chunked(`13\r\n${PLANT}\r0\r\n\r\n`),
    "a carriage return in an extension": chunked(`13;a\rb\r\n${PLANT}\r\n0\r\n\r\n`),
    "a NUL in an extension": chunked(`13;a\0b\r\n${PLANT}\r\n0\r\n\r\n`),
    "line feeds without carriage returns": chunked(`13\n${PLANT}\n0\n\n`),
    "carriage returns without line feeds": chunked(`13\r${PLANT}\r0\r\r`),
    "a request instead of chunks": chunked(SMUGGLED),
    "an invalid chunk after a valid one": chunked(`13\r\n${PLANT}\r\nx\r\n\r\n`),
    "an invalid line end after the last chunk": chunked(`13\r\n${PLANT}\r\n0\r\nx\r\n`),
    "a line feed after the last chunk": chunked(`13\r\n${PLANT}\r\n0\r\n\n`),
    "one line end after the last chunk, then a request": chunked(`13\r\n${PLANT}\r\n0\r\n${SMUGGLED}`),
    // Trailers are valid (RFC 9112, 7.1.2), but Bun rejects requests with them.
    "a trailer": chunked(`13\r\n${PLANT}\r\n0\r\nX: y\r\n\r\n`),
    "a Content-Length trailer": chunked(`13\r\n${PLANT}\r\n0\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`),
    "a Transfer-Encoding trailer": chunked(`13\r\n${PLANT}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`),
    "a trailer without a colon": chunked(`13\r\n${PLANT}\r\n0\r\nX y\r\n\r\n`),
    "a trailer with bare line feeds": chunked(`13\r\n${PLANT}\r\n0\r\nX: y\nZ: \r\n\r\n`),
  }),

  ...closes([413], {
    "an extension of 20,000 bytes": chunked(`13;${"a".repeat(20_000)}\r\n${PLANT}\r\n0\r\n\r\n`),
    "an endless extension": chunked(`13;${"a".repeat(100_000)}`),
  }),

  ...closes(
    [],
    {
      "a half-close before any chunk": chunked(""),
      "a half-close in a size": chunked("1"),
      "a half-close in a chunk": chunked(`13\r\n${PLANT.slice(0, 9)}`),
      "a half-close after a chunk": chunked(`13\r\n${PLANT}\r\n`),
      "a half-close in the last size": chunked(`13\r\n${PLANT}\r\n0`),
    },
    { clientEnds: "half" },
  ),
];
