import { describe, expect, it } from "bun:test";
import { AppError } from "../src/domain/error.ts";
import { mintSecret, type Token } from "../src/domain/token.ts";
import type { Storage } from "../src/storage/storage.ts";
import { Tokens } from "../src/tokens.ts";

/** Tokens over a storage that answers each look-up with the next of these. */
function tokensOver(...answers: (() => Token | undefined)[]) {
  let lookUps = 0;
  const selectToken = async () => answers[lookUps++]?.();
  return { tokens: new Tokens({ selectToken } as unknown as Storage), lookUps: () => lookUps };
}

describe("authenticating again within a moment", () => {
  it("asks the database once for a token that is unknown", async () => {
    const { tokens, lookUps } = tokensOver(() => undefined);
    const secret = mintSecret();
    expect(await tokens.authenticate(secret)).toBeUndefined();
    expect(await tokens.authenticate(secret)).toBeUndefined();
    expect(lookUps()).toBe(1);
  });

  it("asks again when the database could not answer", async () => {
    const token: Token = { digest: "d", owner: "o", scopes: ["plants:read"], createdAt: 0 };
    const fail = () => {
      throw new AppError("unavailable", "gone");
    };
    const { tokens } = tokensOver(fail, () => token);
    const secret = mintSecret();
    await expect(Promise.resolve(tokens.authenticate(secret))).rejects.toThrow("gone");
    expect(await tokens.authenticate(secret)).toEqual(token);
  });

  it("never asks for what cannot be a token", async () => {
    const { tokens, lookUps } = tokensOver();
    expect(await tokens.authenticate("plt_nonsense")).toBeUndefined();
    expect(lookUps()).toBe(0);
  });
});
