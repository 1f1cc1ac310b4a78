import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { AppError } from "../src/domain/error.ts";
import { digestSecret, mintSecret, SCOPES, type Token } from "../src/domain/token.ts";
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

describe("a flood of unknown tokens", () => {
  const KNOWN: Token = { digest: "d", owner: "o", scopes: ["plants:read"], createdAt: 0 };

  afterEach(() => {
    mock.restore();
  });

  /** Tokens over a database that knows one secret and, once `hold` is called, does not reply to other look-ups. */
  function tokensUnderFlood() {
    const known = mintSecret();
    let held: PromiseWithResolvers<undefined> | undefined;
    const digests: string[] = [];
    const selectToken = async (digest: string) => {
      digests.push(digest);
      return digest === digestSecret(known) ? KNOWN : held?.promise;
    };
    return {
      known,
      tokens: new Tokens({ selectToken } as unknown as Storage),
      digests,
      hold() {
        held = Promise.withResolvers();
        return () => held?.resolve(undefined);
      },
    };
  }

  it("waits for at most 1,024 look-ups, and refuses further ones at once", async () => {
    const { tokens, hold, digests } = tokensUnderFlood();
    const release = hold();
    const waiting = Array.from({ length: 1_024 }, () => tokens.authenticate(mintSecret()));
    await expect(Promise.resolve(tokens.authenticate(mintSecret()))).rejects.toMatchObject({ code: "unavailable" });
    expect(digests).toHaveLength(1_024);
    release();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([undefined]));
    expect(await tokens.authenticate(mintSecret())).toBeUndefined();
  });

  it("does not stop a token in use from being looked up again", async () => {
    const { known, tokens, hold } = tokensUnderFlood();
    expect(await tokens.authenticate(known)).toEqual(KNOWN);
    const release = hold();
    const waiting = Array.from({ length: 1_024 }, () => tokens.authenticate(mintSecret()));
    spyOn(performance, "now").mockReturnValue(performance.now() + 1_000);
    expect(await tokens.authenticate(known)).toEqual(KNOWN);
    release();
    await Promise.all(waiting);
  });

  it("evicts no token in use from the cache", async () => {
    const { known, tokens, digests } = tokensUnderFlood();
    spyOn(performance, "now").mockReturnValue(0);
    await tokens.authenticate(known);
    for (let n = 0; n < 20_000; n++) await tokens.authenticate(mintSecret());
    expect(tokens.authenticate(known)).toEqual(KNOWN);
    expect(digests).toHaveLength(20_001);
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
