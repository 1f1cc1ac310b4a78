import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { BlockList } from "node:net";
import { mintSecret } from "../../src/domain/token.ts";
import type { AuthorizerOptions } from "../../src/http/authorizer.ts";
import { clientAddress, networkOf } from "../../src/http/client-address.ts";
import { RateLimiter } from "../../src/http/rate-limit.ts";
import { Api, type Reply } from "../support/api.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

let services: Service[] = [];
afterEach(async () => {
  mock.restore();
  await Promise.all(services.map((service) => service.stop()));
  services = [];
});

async function start(server: Partial<AuthorizerOptions>): Promise<{ service: Service; api: Api }> {
  const service = await startService({ server });
  services.push(service);
  return { service, api: await Api.of(service) };
}

/** Stops the monotonic clock. Returns a function that advances it. */
function stopClock(): (byMs: number) => void {
  const clock = spyOn(performance, "now");
  let nowMs = 1_000_000;
  clock.mockImplementation(() => nowMs);
  return (byMs) => {
    nowMs += byMs;
  };
}

const rateLimitOf = ({ status, error, headers }: Reply) => [
  status,
  error,
  ...["retry-after", "ratelimit", "ratelimit-policy"].map((name) => headers.get(name)),
];

describe("the limit on invalid tokens per address", () => {
  const failureQuota = { amount: 3, windowMs: 60_000 };
  const GUESSES = ["", "x", "plt_x", mintSecret(), mintSecret(), "eyJh.e30.x"];

  it("returns 429 with Retry-After when exceeded", async () => {
    const advance = stopClock();
    const { api } = await start({ failureQuota });
    for (const guess of GUESSES.slice(0, 3)) expect((await api.list(guess)).error).toBe(40101);
    const limited = (seconds: number) => [
      ...[429, 42900, String(seconds)],
      ...[`"invalid-tokens";r=0;t=${seconds}`, '"invalid-tokens";q=3;w=60'],
    ];
    for (const guess of GUESSES) expect(rateLimitOf(await api.list(guess))).toEqual(limited(20));
    advance(19_500);
    expect(rateLimitOf(await api.delete(mintSecret(), 1))).toEqual(limited(1));
    advance(500);
    expect((await api.list(mintSecret())).error).toBe(40101);
    expect((await api.list(mintSecret())).error).toBe(42900);
  });

  it("never affects valid tokens from the same address, cached or new", async () => {
    const { service, api } = await start({ failureQuota });
    const cached = await service.token();
    for (let round = 0; round < 20; round++) {
      await api.list(mintSecret());
      expect((await api.list(cached)).status).toBe(200);
      expect((await api.list(await service.token())).status).toBe(200);
    }
    expect((await api.list(mintSecret())).error).toBe(42900);
  });

  it("does not count other errors", async () => {
    const { service, api } = await start({ failureQuota });
    const reader = await service.token({ scopes: ["plants:read"] });
    for (let round = 0; round < 5; round++) {
      expect((await api.send("GET", "/plants")).error).toBe(40100);
      expect((await api.delete(reader, 1)).error).toBe(40300);
      expect((await api.list(reader, "?limit=0")).error).toBe(40006);
      expect((await api.send("GET", "/nope", { token: "x" })).error).toBe(40401);
    }
    expect((await api.list("x")).error).toBe(40101);
  });

  it("counts the peer address and ignores X-Forwarded-For when no proxy is trusted", async () => {
    const { api } = await start({ failureQuota });
    const errors: (number | undefined)[] = [];
    for (let n = 1; n <= 4; n++) {
      const headers = { "X-Forwarded-For": `192.0.2.${n}`, Forwarded: `for=192.0.2.${n}` };
      errors.push((await api.send("GET", "/plants", { token: "x", headers })).error);
    }
    expect(errors).toEqual([40101, 40101, 40101, 42900]);
  });

  it("counts the last address in X-Forwarded-For that is not a trusted proxy", async () => {
    const proxies = new BlockList();
    proxies.addAddress("127.0.0.1");
    proxies.addSubnet("10.0.0.0", 8);
    const { api } = await start({ failureQuota: { amount: 1, windowMs: 60_000 }, proxies });
    const errorFor = async (forwardedFor: string) =>
      (await api.send("GET", "/plants", { token: "x", headers: { "X-Forwarded-For": forwardedFor } })).error;
    expect(await errorFor("192.0.2.1")).toBe(40101);
    const withPorts = ["192.0.2.1:4711", "192.0.2.1:1,10.1.2.3:2"];
    for (const same of [
      "192.0.2.1",
      "192.0.2.99, 192.0.2.1",
      "10.9.9.9,192.0.2.1,10.1.2.3",
      "x, 192.0.2.1",
      ...withPorts,
    ])
      expect([same, await errorFor(same)]).toEqual([same, 42900]);
    for (const other of ["192.0.2.2", "192.0.2.1, 192.0.2.3", "2001:db8::1", "x", "10.1.2.3", "192.0.2.1, x, 10.0.0.1"])
      expect([other, await errorFor(other)]).toEqual([other, 40101]);
    for (const same of ["2001:db8::ffff:1", "[2001:db8::2]", "[2001:db8::3]:443"])
      expect([same, await errorFor(same)]).toEqual([same, 42900]);
    expect(await errorFor("2001:db8:0:1::1")).toBe(40101);
  });
});

describe("X-Forwarded-For", () => {
  it("is evaluated from its end for at most 32 addresses", () => {
    const proxies = new BlockList();
    proxies.addSubnet("10.0.0.0", 8);
    const check = spyOn(proxies, "check");
    const headers = { "X-Forwarded-For": `192.0.2.1${",10.1.2.3".repeat(1_000)}` };
    expect(clientAddress(new Request("http://x", { headers }), "10.0.0.1", proxies)).toBe("10.1.2.3");
    expect(check.mock.calls.length).toBeLessThanOrEqual(33);
  });
});

describe("networkOf", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:0DB8:0001:2::", "2001:db8:1:2"],
    ["2001:db8::5:6:7:8:9", "2001:db8:0:5"],
    ["2001:db8::9", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["::", "0:0:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0"],
  ])("maps %s to %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe("the limit on requests per token", () => {
  const requestQuota = { amount: 100, windowMs: 1_000 };

  it("returns 429 when exceeded, without affecting other tokens of the owner", async () => {
    const advance = stopClock();
    const { service, api } = await start({ requestQuota });
    const owner = newOwner();
    const [greedy, modest] = [await service.token({ owner }), await service.token({ owner })];
    for (let n = 0; n < 100; n++) expect((await api.list(greedy)).status).toBe(200);
    const limited = [429, 42900, "1", '"requests";r=0;t=1', '"requests";q=100;w=1'];
    expect(rateLimitOf(await api.list(greedy))).toEqual(limited);
    expect(rateLimitOf(await api.create(greedy, { id: 1, name: "x" }))).toEqual(limited);
    expect((await api.list(modest)).text).toBe("[]");
    advance(10);
    expect((await api.list(greedy)).status).toBe(200);
    expect(rateLimitOf(await api.list(greedy))).toEqual(limited);
  });

  it("counts failed requests", async () => {
    stopClock();
    const { service, api } = await start({ requestQuota: { amount: 2, windowMs: 1_000 } });
    const token = await service.token({ scopes: ["plants:read"] });
    const errors = [await api.list(token, "?limit=0"), await api.delete(token, 1), await api.list(token)];
    expect(errors.map(({ error }) => error)).toEqual([40006, 40300, 42900]);
  });

  it("does not apply to public routes", async () => {
    const { service, api } = await start({ requestQuota: { amount: 1, windowMs: 1_000 } });
    const token = await service.token();
    for (let n = 0; n < 5; n++) expect((await api.send("GET", "/livez", { token })).status).toBe(200);
  });
});

describe("RateLimiter", () => {
  const isAllowed = (limiter: RateLimiter, key: string, nowMs: number): boolean =>
    limiter.take(key, nowMs) === undefined;

  it.each([
    [1, 1_000],
    [7, 1_000],
    [600, 60_000],
    [999, 3_600_000],
  ])("allows a burst of %d in %d ms and refills steadily", (amount, windowMs) => {
    const limiter = new RateLimiter("test", { amount, windowMs }, "limit exceeded");
    const countAllowedAt = (nowMs: number) => {
      let allowed = 0;
      while (isAllowed(limiter, "key", nowMs)) allowed++;
      return allowed;
    };
    expect(countAllowedAt(5)).toBe(amount);
    for (let step = 1; step <= amount; step++) {
      expect(countAllowedAt(5 + ((step - 0.5) * windowMs) / amount)).toBe(0);
      expect(countAllowedAt(5 + (step * windowMs) / amount)).toBe(1);
    }
    expect(countAllowedAt(5 + 10 * windowMs)).toBe(amount);
  });

  it("clears all keys when there are more than 100,000", () => {
    const limiter = new RateLimiter("test", { amount: 1, windowMs: 1_000 }, "limit exceeded");
    expect([isAllowed(limiter, "key", 0), isAllowed(limiter, "key", 0)]).toEqual([true, false]);
    for (let n = 0; n < 100_000; n++) limiter.take(`other ${n}`, 0);
    expect(isAllowed(limiter, "key", 0)).toBe(true);
  });
});
