import { describe, expect, it } from "bun:test";
import { mintSecret } from "../../src/domain/token.ts";
import { redact } from "../../src/observability/redact.ts";

describe("redact", () => {
  const secret = mintSecret();
  const [, random = ""] = secret.split("_");

  it.each([
    ["unencoded", `/plants/${secret}`],
    ["percent-encoded", `/plants/plt%5F${random}`],
    ["percent-encoded twice", `/plants/%70lt%255f${random}`],
    ["alone", secret],
    ["truncated", `/plants/${secret.slice(0, -1)}`],
  ])("removes a token: %s", (_how, text) => {
    expect(redact(text)).not.toContain(random.slice(0, 20));
  });

  it.each([
    ["in a path", "/x/", ""],
    ["after characters of a token", "/x/Bearer%20", "/y"],
    ["after a word that contains ey", "/keys-and-values-", "/y"],
    ["between other dots", "/x.ey-ey-", ".ey"],
  ])("removes a JWT: %s", (_how, before, after) => {
    const parts = ["eyJhbGciOiJFUzI1NiJ9", "eyJzdWIiOiJhbm4ifQ", "c2ln-bmF0_dXJl"];
    for (const dot of [".", "%2e", "%2E", "%252e"]) {
      const redacted = redact(before + parts.join(dot) + after);
      for (const part of parts) expect(redacted).not.toContain(part.slice(2));
    }
  });

  // A search that starts over at every `ey` would take minutes.
  it.each(["ey-", "ey_", "ey", "eyyyyyyyyyyy%", "plt", "plt_-", `${"a".repeat(35)}-`, "%2e", "ey.ey", "."])(
    "takes linear time for a long text of %p",
    (unit) => expect(redact(unit.repeat(300_000 / unit.length))).not.toBe(""),
  );

  it("removes a JWT of 4 million characters", () => {
    expect(redact(`/eyJhbGciOiJFUzI1NiJ9${".x".repeat(2_000_000)}`)).toBe("/...");
  });

  it.each([
    "/key-2026-11-22-abcdef",
    "/plants/9223372036854775807",
    "5f3c1d0e-7a53-4b0e-8d0c-0c1f2f6b9a11",
    "/assets/index-256d1653.js",
  ])("does not change %s", (text) => expect(redact(text)).toBe(text));
});
