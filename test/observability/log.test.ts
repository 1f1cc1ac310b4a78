import { describe, expect, it } from "bun:test";
import { forwardLines } from "../../src/observability/log.ts";

describe("forwardLines", () => {
  /** Returns the texts that are written when the log arrives in chunks of this length. */
  async function forward(log: string, chunkLength: number): Promise<string[]> {
    const bytes = new TextEncoder().encode(log);
    const written: string[] = [];
    const chunks = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let start = 0; start < bytes.length; start += chunkLength) {
          controller.enqueue(bytes.subarray(start, start + chunkLength));
        }
        controller.close();
      },
    });
    await forwardLines(chunks, { write: (text) => written.push(text) });
    return written;
  }

  it.each([1, 2, 3, 5, 8, 13])("writes complete lines when chunks have %d bytes", async (chunkLength) => {
    const log = '{"plant":"🌱"}\n{"owner":"ann"}\n{"msg":"an end without a newline"}';
    const written = await forward(log, chunkLength);
    expect(written.filter((text) => !text.endsWith("\n"))).toEqual([]);
    expect(written.join("")).toBe(`${log}\n`);
  });

  it("writes a line of more than 1 Mi characters in parts", async () => {
    const log = "x".repeat(5_000_000);
    expect((await forward(log, 65_536)).length).toBeGreaterThan(2);
  });
});
