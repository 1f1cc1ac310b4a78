import { describe, expect, it } from "bun:test";
import { mintSecret } from "../src/domain/token.ts";
import { forwardLines, type Log, limitFailureLog, redact } from "../src/log.ts";

describe("the log", () => {
  const secret = mintSecret();
  const [, random = ""] = secret.split("_");

  it.each([
    ["as it is", `/plants/${secret}`],
    ["percent-encoded", `/plants/plt%5F${random}`],
    ["percent-encoded twice", `/plants/%70lt%255f${random}`],
    ["alone", secret],
    ["cut short", `/plants/${secret.slice(0, -1)}`],
  ])("shows no token: %s", (_how, text) => {
    expect(redact(text)).not.toContain(random.slice(0, 20));
  });

  it.each([
    ["as it is", "/x/", ""],
    ["after characters of a token", "/x/Bearer%20", "/y"],
    ["after a word that contains ey", "/keys-and-values-", "/y"],
    ["between other dots", "/x.ey-ey-", ".ey"],
  ])("shows no JWT: %s", (_how, before, after) => {
    const parts = ["eyJhbGciOiJFUzI1NiJ9", "eyJzdWIiOiJhbm4ifQ", "c2ln-bmF0_dXJl"];
    for (const dot of [".", "%2e", "%2E", "%252e"]) {
      const redacted = redact(before + parts.join(dot) + after);
      for (const part of parts) expect(redacted).not.toContain(part.slice(2));
    }
  });

  // A search that starts over at every `ey` would take minutes.
  it.each(["ey-", "ey_", "ey", "eyyyyyyyyyyy%", "plt", "plt_-", `${"a".repeat(35)}-`, "%2e", "ey.ey", "."])(
    "looks once through a long text of %p",
    (unit) => expect(redact(unit.repeat(300_000 / unit.length))).not.toBe(""),
  );

  it("shows no JWT of any length", () => {
    expect(redact(`/eyJhbGciOiJFUzI1NiJ9${".x".repeat(2_000_000)}`)).toBe("/...");
  });

  it.each([
    "/key-2026-11-22-abcdef",
    "/plants/9223372036854775807",
    "5f3c1d0e-7a53-4b0e-8d0c-0c1f2f6b9a11",
    "/docs/swagger-ui-bundle.js",
  ])("shows %s as it is", (text) => expect(redact(text)).toBe(text));
});

describe("the log of another process", () => {
  /** What is written when the log arrives in pieces of so many bytes. */
  async function passOn(log: string, bytesAPiece: number): Promise<string[]> {
    const bytes = new TextEncoder().encode(log);
    const written: string[] = [];
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += bytesAPiece) {
          controller.enqueue(bytes.subarray(at, at + bytesAPiece));
        }
        controller.close();
      },
    });
    await forwardLines(pieces, { write: (text) => written.push(text) });
    return written;
  }

  it.each([1, 2, 3, 5, 8, 13])("is passed on in whole lines, though it comes in pieces of %d bytes", async (bytes) => {
    const log = '{"plant":"🌱"}\n{"owner":"ann"}\n{"msg":"an end without a newline"}';
    const written = await passOn(log, bytes);
    expect(written.filter((text) => !text.endsWith("\n"))).toEqual([]);
    expect(written.join("")).toBe(`${log}\n`);
  });

  it("is passed on in parts where a line never ends", async () => {
    const log = "x".repeat(5_000_000);
    expect((await passOn(log, 65_536)).length).toBeGreaterThan(2);
  });
});

describe("limitFailureLog", () => {
  it("lets 500 failures of a second have a line and tells how many more there were", async () => {
    const told = Promise.withResolvers<[object, string]>();
    const log = { warn: (about: object, message: string) => told.resolve([about, message]) };
    const mayLog = limitFailureLog(log as unknown as Log["requests"]);
    const answers = Array.from({ length: 507 }, mayLog);
    expect(answers).toEqual([...Array(500).fill(true), ...Array(7).fill(false)]);
    expect(await told.promise).toEqual([{ count: 7 }, "failure log lines suppressed"]);
    expect(mayLog()).toBe(true);
  });
});
