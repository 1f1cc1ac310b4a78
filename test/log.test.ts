import { describe, expect, it } from "bun:test";
import { mintSecret } from "../src/domain/token.ts";
import { type Log, limitFailures, redact } from "../src/log.ts";

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

  it.each(["/plants/9223372036854775807", "5f3c1d0e-7a53-4b0e-8d0c-0c1f2f6b9a11", "/docs/swagger-ui-bundle.js"])(
    "shows %s as it is",
    (text) => expect(redact(text)).toBe(text),
  );
});

describe("limitFailures", () => {
  it("lets 500 failures of a second have a line and tells how many more there were", async () => {
    const told = Promise.withResolvers<[object, string]>();
    const log = { warn: (about: object, message: string) => told.resolve([about, message]) };
    const mayLog = limitFailures(log as unknown as Log["requests"]);
    const answers = Array.from({ length: 507 }, mayLog);
    expect(answers).toEqual([...Array(500).fill(true), ...Array(7).fill(false)]);
    expect(await told.promise).toEqual([{ count: 7 }, "more failures without a line"]);
    expect(mayLog()).toBe(true);
  });
});
