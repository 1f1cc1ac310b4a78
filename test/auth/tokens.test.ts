import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { Tokens } from "../../src/auth/tokens.ts";
import { AppError } from "../../src/domain/error.ts";
import { digestSecret, mintSecret, SCOPES, type Token } from "../../src/domain/token.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { ENGINES } from "../support/engines.ts";
import { newOwner } from "../support/service.ts";

/** Tokens over a storage that returns the next of these results for each lookup. */
function tokensOver(...results: (() => Token | undefined)[]) {
  let lookups = 0;
  const selectToken = async () => results[lookups++]?.();
  return { tokens: new Tokens({ selectToken } as unknown as Storage), lookups: () => lookups };
}

describe("Tokens.authenticate", () => {
  it("caches unknown tokens", async () => {
    const { tokens, lookups } = tokensOver(() => undefined);
    const secret = mintSecret();
    expect(await tokens.authenticate(secret)).toBeUndefined();
    expect(await tokens.authenticate(secret)).toBeUndefined();
    expect(lookups()).toBe(1);
  });

  it("does not cache database errors", async () => {
    const token: Token = { digest: "d", owner: "o", scopes: ["plants:read"], createdAt: 0 };
    const fail = () => {
      throw new AppError("unavailable", "down");
    };
    const { tokens } = tokensOver(fail, () => token);
    const secret = mintSecret();
    await expect(Promise.resolve(tokens.authenticate(secret))).rejects.toThrow("down");
    expect(await tokens.authenticate(secret)).toEqual(token);
  });

  it("does not look up malformed tokens", async () => {
    const { tokens, lookups } = tokensOver();
    expect(await tokens.authenticate("plt_nonsense")).toBeUndefined();
    expect(lookups()).toBe(0);
  });
});

describe("a flood of unknown tokens", () => {
  const KNOWN: Token = { digest: "d", owner: "o", scopes: ["plants:read"], createdAt: 0 };

  afterEach(() => {
    mock.restore();
  });

  /** Tokens over a database with one token. After `hold`, it does not respond to lookups of other tokens. */
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

  it("has at most 1,024 pending lookups and rejects further ones immediately", async () => {
    const { tokens, hold, digests } = tokensUnderFlood();
    const release = hold();
    const waiting = Array.from({ length: 1_024 }, () => tokens.authenticate(mintSecret()));
    await expect(Promise.resolve(tokens.authenticate(mintSecret()))).rejects.toMatchObject({ code: "unavailable" });
    expect(digests).toHaveLength(1_024);
    release();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([undefined]));
    expect(await tokens.authenticate(mintSecret())).toBeUndefined();
  });

  it("does not delay the lookup of a token in use", async () => {
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

describe.each(ENGINES)("a clock change, on %s", (_, open) => {
  /** Runs a test with the tokens of one process and its clock. `restart` returns those of a new process. */
  async function withTokens(use: (tokens: Tokens, clock: { now: number }, restart: () => Tokens) => Promise<void>) {
    const { storage, remove } = await open();
    const clock = { now: Date.now() };
    const newTokens = () => new Tokens(storage, () => clock.now);
    await use(newTokens(), clock, newTokens);
    await storage.close();
    await remove();
  }
  const grant = (expiresAt?: number) => ({ owner: newOwner(), scopes: SCOPES, expiresAt });

  it("does not revive a token after it was found expired, nor others that expired at the same time", () =>
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

  it("does not invalidate a token before it expires", () =>
    withTokens(async (tokens, clock) => {
      const token = await tokens.create(grant(clock.now + DAY_MS));
      for (const jump of [DAY_MS / 2, -DAY_MS, DAY_MS / 4, -365 * DAY_MS]) {
        clock.now += jump;
        expect(await tokens.authenticate(token)).toBeDefined();
      }
    }));

  it("never revives a revoked token, in this process or the next", () =>
    withTokens(async (tokens, clock, restart) => {
      const [permanent, expiring] = [await tokens.create(grant()), await tokens.create(grant(clock.now + DAY_MS))];
      for (const token of [permanent, expiring]) expect(await tokens.revoke(token)).toBe(true);
      for (const jump of [-1, -DAY_MS, -10_000 * DAY_MS, 20_000 * DAY_MS]) {
        clock.now += jump;
        for (const process of [tokens, restart()]) {
          expect(await process.authenticate(permanent)).toBeUndefined();
          expect(await process.authenticate(expiring)).toBeUndefined();
        }
      }
    }));
});
