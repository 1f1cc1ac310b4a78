import { describe, expect, it } from "bun:test";
import { digestSecret, isValid, isWellFormedSecret, mintSecret, type Token } from "../../src/domain/token.ts";

describe("a token secret", () => {
  it("is rejected after a change of any single character", () => {
    const secret = mintSecret();
    for (let index = 4; index < secret.length; index++) {
      const other = secret[index] === "a" ? "b" : "a";
      expect(isWellFormedSecret(secret.slice(0, index) + other + secret.slice(index + 1))).toBe(false);
    }
  });

  it.each([
    ["an empty text", () => ""],
    ["the prefix alone", () => "plt_"],
    ["a secret without its last character", () => mintSecret().slice(0, -1)],
    ["a secret with an extra character", () => `${mintSecret()}x`],
    ["a secret in lower case", () => mintSecret().toLowerCase()],
    ["a secret after a space", () => ` ${mintSecret()}`],
  ])("is not well-formed as %s", (_description, make) => expect(isWellFormedSecret(make())).toBe(false));

  it("is plt_, 30 base62 characters and their CRC-32 in base62", () => {
    const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    for (let round = 0; round < 1_000; round++) {
      const [, random = "", checksum = ""] = /^plt_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/.exec(mintSecret()) ?? [];
      const value = [...checksum].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0);
      expect(value).toBe(Bun.hash.crc32(random));
    }
  });

  it("uses all 62 characters with equal probability", () => {
    const counts = new Map<string, number>();
    for (let round = 0; round < 5_000; round++) {
      for (const character of mintSecret().slice(4, 34)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    // 150,000 characters: mean 2,419 of each, standard deviation 49. The tolerance is eight standard deviations.
    expect(counts.size).toBe(62);
    expect(Math.min(...counts.values())).toBeGreaterThan(2_419 - 400);
    expect(Math.max(...counts.values())).toBeLessThan(2_419 + 400);
  });

  it("is stored as its SHA-256", () => {
    expect(digestSecret("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  });
});

describe("isValid", () => {
  const token: Token = { digest: "", owner: "o", scopes: [], createdAt: 0 };

  it.each([
    ["false for a revoked token at any time", { ...token, revokedAt: 0 }, 0, false],
    ["false at the time of expiry", { ...token, expiresAt: 10 }, 10, false],
    ["true 1 ms before the expiry", { ...token, expiresAt: 10 }, 9, true],
    ["true for a token without expiry", token, Number.MAX_SAFE_INTEGER, true],
  ])("returns %s", (_case, subject, now, expected) => expect(isValid(subject, now)).toBe(expected));
});
