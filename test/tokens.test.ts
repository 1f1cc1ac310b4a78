import { describe, expect, it } from "bun:test";
import { AppError } from "../src/domain/error.ts";
import { mintSecret, SCOPES, type Token } from "../src/domain/token.ts";
import type { Storage } from "../src/storage/storage.ts";
import { Tokens } from "../src/tokens.ts";
import { ENGINES } from "./support/engines.ts";
import { newOwner } from "./support/service.ts";

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

const DAY_MS = 86_400_000;

describe.each(ENGINES)("a clock that jumps, on %s", (_, open) => {
  /** The tokens of one process, whose clock shows what the test says. */
  async function withTokens(use: (tokens: Tokens, clock: { now: number }, again: () => Tokens) => Promise<void>) {
    const { storage, remove } = await open();
    const clock = { now: Date.now() };
    const newTokens = () => new Tokens(storage, () => clock.now);
    await use(newTokens(), clock, newTokens);
    await storage.close();
    await remove();
  }
  const grant = (expiresAt?: number) => ({ owner: newOwner(), scopes: SCOPES, expiresAt });

  it("does not bring back a token that was seen expired, nor one that expired unseen before it", () =>
    withTokens(async (tokens, clock) => {
      const end = clock.now + DAY_MS;
      const [seen, unseen] = [await tokens.create(grant(end)), await tokens.create(grant(end))];
      expect(await tokens.authenticate(seen)).toBeDefined();
      clock.now = end;
      expect(await tokens.authenticate(seen)).toBeUndefined();
      clock.now = end - DAY_MS;
      expect(await tokens.authenticate(seen)).toBeUndefined();
      expect(await tokens.authenticate(unseen)).toBeUndefined();
      clock.now = end + 1;
      expect(await tokens.authenticate(seen)).toBeUndefined();
    }));

  it("lets a token in until its end, however often the clock goes back before that", () =>
    withTokens(async (tokens, clock) => {
      const token = await tokens.create(grant(clock.now + DAY_MS));
      for (const jump of [DAY_MS / 2, -DAY_MS, DAY_MS / 4, -365 * DAY_MS]) {
        clock.now += jump;
        expect(await tokens.authenticate(token)).toBeDefined();
      }
    }));

  it("never brings back a revoked token, in this process or the next", () =>
    withTokens(async (tokens, clock, again) => {
      const [endless, ending] = [await tokens.create(grant()), await tokens.create(grant(clock.now + DAY_MS))];
      for (const token of [endless, ending]) expect(await tokens.revoke(token)).toBe(true);
      for (const jump of [-1, -DAY_MS, -10_000 * DAY_MS, 20_000 * DAY_MS]) {
        clock.now += jump;
        for (const process of [tokens, again()]) {
          expect(await process.authenticate(endless)).toBeUndefined();
          expect(await process.authenticate(ending)).toBeUndefined();
        }
      }
    }));
});
