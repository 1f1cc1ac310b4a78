import { answered, ask, createHead, cut, head, inChunks, PLANT } from "./exchange.ts";

const list = (...headers: string[]): string => ask("GET", "/plants", ...headers);
const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `X-${n}: y`);

/** Heads about the limits of the runtime, 16 KiB and some 200 headers, and lengths that are only told. */
export const sizes = [
  ...answered([200], {
    "a query of 15,000 bytes": ask("GET", `/plants?${"x".repeat(15_000)}`),
    "a header of 15,000 bytes": list(`X: ${"y".repeat(15_000)}`),
    "a header name of 15,000 bytes": list(`${"x".repeat(15_000)}: y`),
    "a header of 15,000 spaces": list(`X:${" ".repeat(15_000)}y`),
    "a header of 15,000 tabs at its end": list(`X: y${"\t".repeat(15_000)}`),
    "100 headers": list(...many(100)),
    "100 headers of one name": list(...Array<string>(100).fill("X: y")),
    "50 headers of 300 bytes": list(...many(50).map((header) => header.padEnd(300, "y"))),
  }),
  ...answered([40401], {
    "a path of 15,000 bytes": ask("GET", `/${"x".repeat(15_000)}`),
    "a path of 7,000 segments": ask("GET", "/x".repeat(7_000)),
  }),
  ...cut([431], {
    "a query of 20,000 bytes": ask("GET", `/plants?${"x".repeat(20_000)}`),
    "a path of 20,000 bytes": ask("DELETE", `/plants/1${"x".repeat(20_000)}`),
    "a method of 20,000 bytes": ask("X".repeat(20_000), "/plants/1"),
    "a header of 20,000 bytes": list(`X: ${"y".repeat(20_000)}`),
    "a header name of 20,000 bytes": list(`${"x".repeat(20_000)}: y`),
    "a header of a million bytes": list(`X: ${"y".repeat(1_000_000)}`),
    "a header without an end": head("GET /plants HTTP/1.1", "Host: x", `X: ${"y".repeat(20_000)}`).trimEnd(),
    "a target without an end": `GET /${"x".repeat(100_000)}`,
    "300 headers": list(...many(300)),
    "10,000 headers": list(...many(10_000)),
    "a token of 20,000 bytes": head("GET /plants HTTP/1.1", "Host: x", `Authorization: Bearer ${"x".repeat(20_000)}`),
  }),
  ...cut([40005], {
    "a told length of 8 MiB and a byte": createHead("Content-Length: 8388609"),
    "a told length of 100 MB, then a plant": createHead("Content-Length: 100000000") + PLANT,
    "a told length of 4 GiB and the length of the plant": createHead("Content-Length: 4294967315") + PLANT,
    "9 MB in chunks": createHead("Transfer-Encoding: chunked") + inChunks(PLANT.padEnd(9_000_000), 100_000),
  }),
  ...cut([413], { "a told length of 2^53 + 1": createHead("Content-Length: 9007199254740993") + PLANT }),
  ...cut([40401], {
    "a told length of 4 GiB on an unknown path, then a delete":
      ask("POST", "/x", "Content-Length: 4294967296") + ask("DELETE", "/plants/1"),
    "a chunk of 4 GiB on an unknown path, then a delete": `${ask("POST", "/x", "Transfer-Encoding: chunked")}100000000\r\n${ask("DELETE", "/plants/1")}`,
  }),
];
