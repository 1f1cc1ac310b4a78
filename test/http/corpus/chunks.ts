import { created, createHead, cut, inChunks, PLANT, SMUGGLED } from "./exchange.ts";

/** A create whose body is written in these chunks. */
const chunked = (chunks: string): string => createHead("Transfer-Encoding: chunked") + chunks;

/** Bodies in chunks (RFC 9112, 7.1). 13 is the length of the plant in hexadecimal digits. */
export const chunks = [
  ...created({
    "one chunk": chunked(inChunks(PLANT)),
    "a chunk a byte": chunked(inChunks(PLANT, 1)),
    "a size with zeros before": chunked(`0013\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size with many zeros before": chunked(`${"0".repeat(60)}13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a last size of many zeros": chunked(`13\r\n${PLANT}\r\n0000000000\r\n\r\n`),
    "a size in small letters": chunked(`1b\r\n${PLANT}${" ".repeat(8)}\r\n0\r\n\r\n`),
    "a size in capitals": chunked(`1B\r\n${PLANT}${" ".repeat(8)}\r\n0\r\n\r\n`),
    "an extension": chunked(`13;a=b\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension without a value": chunked(`13;a\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension without a name": chunked(`13;\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension in quotes": chunked(`13;a="b;c"\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension with an open quote": chunked(`13;a="\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension of the last chunk": chunked(`13\r\n${PLANT}\r\n0;a=b\r\n\r\n`),
    "an extension of 1,000 bytes": chunked(`13;${"a".repeat(1_000)}\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension of 1,000 bytes at every byte": chunked(
      `${[...PLANT].map((c) => `1;${"a".repeat(1_000)}\r\n${c}\r\n`).join("")}0\r\n\r\n`,
    ),
  }),

  ...cut([400], {
    "a size with a sign": chunked(`+13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a negative size": chunked(`-13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size of minus nothing": chunked(`13\r\n${PLANT}\r\n-0\r\n\r\n`),
    "a size with 0x": chunked(`0x13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size with another letter": chunked(`1g\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size with an underscore": chunked(`1_3\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size in full-width digits": chunked(`\xef\xbc\x91\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size behind a space": chunked(` 13\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size before a space": chunked(`13 \r\n${PLANT}\r\n0\r\n\r\n`),
    "a size before a tab": chunked(`13\t\r\n${PLANT}\r\n0\r\n\r\n`),
    "a size before a NUL": chunked(`13\0\r\n${PLANT}\r\n0\r\n\r\n`),
    "a space before an extension": chunked(`13 ;a=b\r\n${PLANT}\r\n0\r\n\r\n`),
    "a comma for a semicolon": chunked(`13,a=b\r\n${PLANT}\r\n0\r\n\r\n`),
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
    "line feeds alone": chunked(`13\n${PLANT}\n0\n\n`),
    "carriage returns alone": chunked(`13\r${PLANT}\r0\r\r`),
    "no chunks at all, then a request": chunked(SMUGGLED),
    "a bad chunk after a good one": chunked(`13\r\n${PLANT}\r\nx\r\n\r\n`),
    "a bad line end after the last chunk": chunked(`13\r\n${PLANT}\r\n0\r\nx\r\n`),
    "a line feed after the last chunk": chunked(`13\r\n${PLANT}\r\n0\r\n\n`),
    "one line end after the last chunk, then a request": chunked(`13\r\n${PLANT}\r\n0\r\n${SMUGGLED}`),
    // Trailers are legal (RFC 9112, 7.1.2), and the runtime does not take them: a create with one is refused whole.
    "a trailer": chunked(`13\r\n${PLANT}\r\n0\r\nX: y\r\n\r\n`),
    "a trailer that tells a length": chunked(`13\r\n${PLANT}\r\n0\r\nContent-Length: 50\r\n\r\n${SMUGGLED}`),
    "a trailer that tells an encoding": chunked(`13\r\n${PLANT}\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n${SMUGGLED}`),
    "a trailer without a colon": chunked(`13\r\n${PLANT}\r\n0\r\nX y\r\n\r\n`),
    "a trailer with bare line feeds": chunked(`13\r\n${PLANT}\r\n0\r\nX: y\nZ: \r\n\r\n`),
  }),

  ...cut([413], {
    "an extension of 20,000 bytes": chunked(`13;${"a".repeat(20_000)}\r\n${PLANT}\r\n0\r\n\r\n`),
    "an extension without an end": chunked(`13;${"a".repeat(100_000)}`),
  }),

  ...cut(
    [],
    {
      "an end before any chunk": chunked(""),
      "an end in a size": chunked("1"),
      "an end in a chunk": chunked(`13\r\n${PLANT.slice(0, 9)}`),
      "an end after a chunk": chunked(`13\r\n${PLANT}\r\n`),
      "an end in the last size": chunked(`13\r\n${PLANT}\r\n0`),
    },
    { clientEnds: "half" },
  ),
];
