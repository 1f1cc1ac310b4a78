import { closes, createHead, head, inChunks, keepsOpen, PLANT, request } from "./exchange.ts";

const list = (...headers: string[]): string => request("GET", "/plants", ...headers);
const many = (count: number): string[] => Array.from({ length: count }, (_, n) => `X-${n}: y`);

/** Heads around Bun's limits of 16 KiB and about 200 headers, and declared lengths without such a body. */
export const sizes = [
  ...keepsOpen([200], {
    "a query of 15,000 bytes": request("GET", `/plants?${"x".repeat(15_000)}`),
    "a header of 15,000 bytes": list(`X: ${"y".repeat(15_000)}`),
    "a header name of 15,000 bytes": list(`${"x".repeat(15_000)}: y`),
    "a header of 15,000 spaces": list(`X:${" ".repeat(15_000)}y`),
    "a header with 15,000 trailing tabs": list(`X: y${"\t".repeat(15_000)}`),
    "100 headers": list(...many(100)),
    "100 headers with one name": list(...Array<string>(100).fill("X: y")),
    "50 headers of 300 bytes": list(...many(50).map((header) => header.padEnd(300, "y"))),
  }),
  ...keepsOpen([40401], {
    "a path of 15,000 bytes": request("GET", `/${"x".repeat(15_000)}`),
    "a path of 7,000 segments": request("GET", "/x".repeat(7_000)),
  }),
  ...closes([431], {
    "a query of 20,000 bytes": request("GET", `/plants?${"x".repeat(20_000)}`),
    "a path of 20,000 bytes": request("DELETE", `/plants/1${"x".repeat(20_000)}`),
    "a method of 20,000 bytes": request("X".repeat(20_000), "/plants/1"),
    "a header of 20,000 bytes": list(`X: ${"y".repeat(20_000)}`),
    "a header name of 20,000 bytes": list(`${"x".repeat(20_000)}: y`),
    "a header of a million bytes": list(`X: ${"y".repeat(1_000_000)}`),
    "an unterminated header": head("GET /plants HTTP/1.1", "Host: x", `X: ${"y".repeat(20_000)}`).trimEnd(),
    "an unterminated target": `GET /${"x".repeat(100_000)}`,
    "300 headers": list(...many(300)),
    "10,000 headers": list(...many(10_000)),
    "a token of 20,000 bytes": head("GET /plants HTTP/1.1", "Host: x", `Authorization: Bearer ${"x".repeat(20_000)}`),
  }),
  ...closes([40005], {
    "a Content-Length of 8 MiB + 1": createHead("Content-Length: 8388609"),
    "a Content-Length of 100 MB with a body of 19 bytes": createHead("Content-Length: 100000000") + PLANT,
    "a Content-Length of 4 GiB + 19 with a body of 19 bytes": createHead("Content-Length: 4294967315") + PLANT,
    "9 MB in chunks": createHead("Transfer-Encoding: chunked") + inChunks(PLANT.padEnd(9_000_000), 100_000),
  }),
  ...closes([413], { "a Content-Length of 2^53 + 1": createHead("Content-Length: 9007199254740993") + PLANT }),
  ...closes([40401], {
    "a Content-Length of 4 GiB to an unknown path, then a delete":
      request("POST", "/x", "Content-Length: 4294967296") + request("DELETE", "/plants/1"),
    "a chunk of 4 GiB to an unknown path, then a delete": `${request("POST", "/x", "Transfer-Encoding: chunked")}100000000\r\n${request("DELETE", "/plants/1")}`,
  }),
];
