import { describe, expect, it } from "bun:test";
import { digestSecret, isValid, isWellFormedSecret, mintSecret, type Token } from "../../src/domain/token.ts";

describe("a secret", () => {
  it("has another character caught at every position", () => {
    const secret = mintSecret();
    for (let index = 4; index < secret.length; index++) {
      const other = secret[index] === "a" ? "b" : "a";
      expect(isWellFormedSecret(secret.slice(0, index) + other + secret.slice(index + 1))).toBe(false);
    }
  });

  it.each([
    ["nothing", () => ""],
    ["a prefix", () => "plt_"],
    ["too short a text", () => mintSecret().slice(0, -1)],
    ["too long a text", () => `${mintSecret()}x`],
    ["other letters", () => mintSecret().toLowerCase()],
    ["a space before it", () => ` ${mintSecret()}`],
  ])("is told from %s without a look-up", (_what, make) => expect(isWellFormedSecret(make())).toBe(false));

  it("is plt_, 30 characters and the CRC-32 of those in base62", () => {
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (let round = 0; round < 1_000; round++) {
      const [, random = "", checksum = ""] = /^plt_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(mintSecret()) ?? [];
      const value = [...checksum].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);
      expect(value).toBe(Bun.hash.crc32(random));
    }
  });

  it("is made of all 62 characters alike", () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 5_000; round++) {
      for (const character of mintSecret().slice(4, 34)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    // 150,000 characters, about 2,419 of each, standard deviation 49: eight of those are beyond chance.
    expect(counts.size).toBe(62);
    expect(Math.min(...counts.values())).toBeGreaterThan(2_419 - 400);
    expect(Math.max(...counts.values())).toBeLessThan(2_419 + 400);
  });

  it("is kept as its SHA-256", () => {
    expect(digestSecret("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

describe("a token", () => {
  const token: Token = { digest: "", owner: "o", scopes: [], createdAt: 0 };

  it.each([
    ["revoked, however early", { ...token, revokedAt: 0 }, 0, false],
    ["at the moment it expires", { ...token, expiresAt: 10 }, 10, false],
    ["just before it expires", { ...token, expiresAt: 10 }, 9, true],
    ["without an end", token, Number.MAX_SAFE_INTEGER, true],
  ])("%s", (_when, subject, now, expected) => expect(isValid(subject, now)).toBe(expected));
});
