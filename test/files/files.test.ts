import { describe, expect, it } from "bun:test";
import { ID_MAX, ID_MIN, type Plant } from "../../src/domain/plant.ts";
import { FORMATS, type Format } from "../../src/files/formats.ts";
import { type Row, readRows } from "../../src/files/read.ts";
import { writeRows } from "../../src/files/write.ts";

const PLANTS: Plant[] = [
  { id: ID_MIN, name: "Clarkia", tag: "" },
  { id: -1n, name: 'a "quoted", name\r\nin two lines' },
  { id: 2n ** 53n + 1n, name: "\u2028\u{1f33f}", tag: "\r" },
  { id: ID_MAX, name: "'=1+1", tag: "null" },
];

/** Reads rows from bytes that arrive in chunks of this length. */
async function read(text: string, format: Format, chunkLength = 64 * 1024): Promise<Row[]> {
  const bytes = Buffer.from(text);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let start = 0; start < bytes.length; start += chunkLength)
        controller.enqueue(new Uint8Array(bytes.subarray(start, start + chunkLength)));
      controller.close();
    },
  });
  return Array.fromAsync(readRows(stream, format));
}

const write = async (plants: readonly Plant[], format: Format): Promise<string> =>
  (
    await Array.fromAsync(
      writeRows(
        (async function* () {
          yield* plants;
        })(),
        format,
      ),
    )
  ).join("");

describe.each(FORMATS)("a %s file", (format) => {
  it.each([1, 2, 7, 64 * 1024])("restores the plants exactly when it is read in chunks of %d bytes", async (length) => {
    const rows = await read(await write(PLANTS, format), format, length);
    expect(rows.map((row) => ("plant" in row ? row.plant : row.problem))).toStrictEqual(PLANTS);
  });

  it("without plants has no rows", async () => {
    expect(await read(await write([], format), format)).toEqual([]);
  });

  it("fails as a whole when it contains no plants in this format", async () => {
    if (format !== "ndjson") await expect(read("1", format)).rejects.toThrow();
    else expect(await read("1", format)).toMatchObject([{ line: 1, problem: expect.any(String) }]);
  });
});

describe("an NDJSON file", () => {
  it("may begin with, contain and end with empty lines, which count as lines", async () => {
    const line = '{"id":1,"name":"Clarkia"}';
    for (const length of [1, 64 * 1024]) {
      const rows = await read(`\n${line}\n\r\n${line}\n\n`, "ndjson", length);
      expect(rows.map((row) => [row.line, "plant" in row])).toEqual([
        [2, true],
        [4, true],
      ]);
    }
  });

  it("fails when a line is longer than 1 MiB", async () => {
    await expect(read("x".repeat(1024 * 1024 + 1), "ndjson", 100_000)).rejects.toThrow("longer than 1048576 bytes");
  });
});
