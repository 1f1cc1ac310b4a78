import { afterAll, afterEach, beforeAll, describe, expect, it, mock, setSystemTime, spyOn } from "bun:test";
import type { AppError } from "../../src/domain/error.ts";
import { Api } from "../support/api.ts";
import { advanceableClock } from "../support/clock.ts";
import { Connection, type WireReply } from "../support/connection.ts";
import { newKey, Provider, type SigningKey } from "../support/issuer.ts";
import { startServerProcess } from "../support/program.ts";
import { type Service, startService, temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const provider = new Provider();
const clock = advanceableClock();
let key: SigningKey;
/** Never published: tokens signed with it have an unknown `kid`. */
let stranger: SigningKey;

beforeAll(async () => {
  [key, stranger] = [await newKey("first"), await newKey("stranger")];
});
afterAll(() => provider.stop());
afterEach(() => {
  mock.restore();
  setSystemTime();
  provider.fault = undefined;
  provider.otherKeys = [];
});

/** A token that is not cached. */
const newToken = (signer: SigningKey): Promise<string> => provider.token({ jti: crypto.randomUUID() }, signer);

/** Makes the provider accept requests without responding, and disables the timeout of fetches. */
function hangProvider(): PromiseWithResolvers<Response> & { readonly timeout: AbortController } {
  const timeout = new AbortController();
  spyOn(AbortSignal, "timeout").mockReturnValue(timeout.signal);
  const response = Promise.withResolvers<Response>();
  provider.fault = () => response.promise;
  return { ...response, timeout };
}

describe("fetching keys", () => {
  it("happens when a token has an unknown kid, at most once a second", async () => {
    provider.keys = [key];
    const issuer = provider.newIssuer();
    await issuer.authenticate(await newToken(key));
    const second = await newKey("second");
    clock.advance(1_000);
    provider.keys = [key, second];
    const before = provider.requestCount;
    expect(await issuer.authenticate(await newToken(second))).toBeDefined();
    expect(provider.requestCount).toBe(before + 1);
    clock.advance(1_000);
    const nowMs = performance.now();
    spyOn(performance, "now").mockReturnValue(nowMs);
    const tokens = await Promise.all(Array.from({ length: 50 }, () => newToken(stranger)));
    for (const token of tokens) expect(await issuer.authenticate(token)).toBeUndefined();
    expect(provider.requestCount).toBe(before + 2);
  });

  it("has one request in flight, however long it takes", async () => {
    provider.keys = [key];
    const hung = hangProvider();
    const issuer = provider.newIssuer();
    const before = provider.requestCount;
    const first = issuer.authenticate(await newToken(key));
    await until(() => provider.requestCount > before);
    clock.advance(5_000);
    const second = issuer.authenticate(await newToken(key));
    hung.resolve(Response.json(provider.keySet));
    expect(await Promise.all([first, second])).not.toContain(undefined);
    expect(provider.requestCount).toBe(before + 1);
  });

  it("times out after three seconds, before the response or within its body", async () => {
    provider.keys = [key];
    const started = new ReadableStream({ start: (controller) => controller.enqueue("{") });
    for (const response of [undefined, new Response(started)]) {
      const hung = hangProvider();
      if (response !== undefined) hung.resolve(response);
      const before = provider.requestCount;
      const pending = Promise.resolve(provider.newIssuer().authenticate(await newToken(key)));
      await until(() => provider.requestCount > before);
      hung.timeout.abort();
      await expect(pending).rejects.toMatchObject({ code: "unavailable" });
      expect(AbortSignal.timeout).toHaveBeenLastCalledWith(3_000);
    }
  });

  const FAULTS: [description: string, fault: Exclude<Provider["fault"], undefined>][] = [
    ["fails", () => new Response("", { status: 500 })],
    ["redirects", (path) => (path === "/keys" ? Response.redirect("/elsewhere") : undefined)],
    ["returns invalid JSON", () => new Response("<html>")],
    ["returns JSON that is not an object", () => new Response("null")],
    ["returns no keys", () => Response.json({ error: "maintenance" })],
    ["returns more than 1 MiB", () => new Response(JSON.stringify(provider.keySet).padEnd(1024 * 1024 + 1))],
    ["returns more than 100 keys", () => Response.json({ keys: Array(101).fill(key.publicJwk) })],
  ];

  it.each(FAULTS)("leaves cached keys usable for a day while the provider %s", async (_description, fault) => {
    provider.keys = [key];
    const issuer = provider.newIssuer();
    const service = await startService({ issuer });
    const api = await Api.of(service);
    const listAs = async (signer: SigningKey) => api.list(await newToken(signer));
    provider.fault = fault;
    const reply = await listAs(key);
    expect([reply.error, reply.headers.get("retry-after")]).toEqual([50300, "1"]);
    provider.fault = undefined;
    clock.advance(1_000);
    expect((await listAs(key)).status).toBe(200);

    provider.fault = fault;
    clock.advance(1_000);
    const third = await newKey("third");
    const own = await service.token();
    const replies = [await listAs(third), await listAs(key), await api.list(own), await api.list("eyJ.x.y")];
    expect(replies.map(({ status }) => status)).toEqual([503, 200, 200, 401]);
    clock.advance(86_000_000);
    expect((await listAs(key)).status).toBe(200);
    clock.advance(86_400_001);
    expect((await listAs(key)).error).toBe(50300);
    provider.fault = undefined;
    provider.keys = [third];
    clock.advance(1_000);
    expect([(await listAs(third)).status, (await listAs(key)).error]).toEqual([200, 40101]);
    await service.stop();
  });

  it("reports a failure once until a fetch has succeeded", async () => {
    provider.keys = [key];
    const errors: AppError[] = [];
    const issuer = provider.newIssuer({ onKeysUnavailable: (error) => errors.push(error) });
    const attempt = async () => {
      clock.advance(1_000);
      await Promise.resolve(issuer.authenticate(await newToken(stranger))).catch(() => {});
    };
    const fault = () => new Response("", { status: 500 });
    for (const each of [fault, fault, undefined, fault]) {
      provider.fault = each;
      await attempt();
    }
    expect(errors.map(({ cause }) => (cause as Error).message)).toEqual(
      Array(2).fill(`${provider.jwksUrl} returned status 500`),
    );
  });
});

describe("the response of the provider", () => {
  it("is read up to 1 MiB, then the connection is closed", async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    provider.fault = () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)),
          cancel: () => close(),
        }),
      );
    const error = await Promise.resolve(provider.newIssuer().authenticate(await newToken(key))).catch((e) => e);
    expect([error.code, error.cause.message]).toEqual([
      "unavailable",
      `${provider.jwksUrl} returned more than 1048576 bytes`,
    ]);
    await closed;
  });

  it("is limited to 1 MiB after decompression", async () => {
    const body = Bun.gzipSync(new Uint8Array(64 * 1024 * 1024).fill(0x20));
    provider.fault = () => new Response(body, { headers: { "Content-Encoding": "gzip" } });
    const error = await Promise.resolve(provider.newIssuer().authenticate(await newToken(key))).catch((e) => e);
    expect(error.cause.message).toBe(`${provider.jwksUrl} returned more than 1048576 bytes`);
  });

  it("is accepted with 1 MiB and 100 keys", async () => {
    provider.keys = [key];
    const keys = [...Array(99).fill({ ...stranger.publicJwk, kid: "other" }), key.publicJwk];
    provider.fault = () => new Response(JSON.stringify({ keys }).padEnd(1024 * 1024));
    expect(await provider.newIssuer().authenticate(await newToken(key))).toBeDefined();
  });
});

describe("cached keys", () => {
  it("are used without waiting for the provider, even when they are older than ten minutes", async () => {
    provider.keys = [key];
    const issuer = provider.newIssuer();
    await issuer.authenticate(await newToken(key));
    const hung = hangProvider();
    const before = provider.requestCount;
    clock.advance(600_001);
    expect(await issuer.authenticate(await newToken(key))).toBeDefined();
    await until(() => provider.requestCount > before);
    expect(await issuer.authenticate(await newToken(key))).toBeDefined();
    hung.resolve(Response.json(provider.keySet));
  });

  it("are refreshed every ten minutes without requests", async () => {
    const [old, next] = [await newKey("old"), await newKey("next")];
    provider.keys = [old];
    const timers = spyOn(globalThis, "setInterval");
    const issuer = provider.newIssuer();
    const [refresh, everyMs] = timers.mock.calls[0] as [() => void, number];
    expect(everyMs).toBe(600_000);
    expect(await issuer.authenticate(await newToken(old))).toBeDefined();
    provider.keys = [next];
    clock.advance(1_000);
    refresh();
    await until(async () => (await issuer.authenticate(await newToken(old))) === undefined);
  });

  it("are refreshed in the background after ten minutes, so that a withdrawn key stops working", async () => {
    const [old, next] = [await newKey("old"), await newKey("next")];
    provider.keys = [old];
    const issuer = provider.newIssuer();
    const first = await newToken(old);
    expect(await issuer.authenticate(first)).toBeDefined();
    provider.keys = [next];
    clock.advance(590_000);
    const before = provider.requestCount;
    expect(await issuer.authenticate(await newToken(old))).toBeDefined();
    expect(provider.requestCount).toBe(before);
    clock.advance(10_001);
    const isRejected = async () => (await issuer.authenticate(await newToken(old))) === undefined;
    await until(isRejected);
    expect(provider.requestCount).toBe(before + 1);
    setSystemTime(new Date(Date.now() + 60_000));
    expect(await issuer.authenticate(first)).toBeUndefined();
  });
});

describe("a provider that accepts requests and never responds", () => {
  const BATCH = 100;
  let service: Service;
  afterEach(() => service.stop());

  it("delays at most 64 requests with unknown keys, rejects further ones immediately, and does not affect other requests", async () => {
    provider.keys = [key];
    service = await startService({ issuer: provider.newIssuer() });
    const api = await Api.of(service);
    const own = await service.token();
    expect((await api.list(await newToken(key))).status).toBe(200);

    clock.advance(1_000);
    const hung = hangProvider();
    const before = provider.requestCount;
    const replies: WireReply[] = [];
    const connections: Connection[] = [];
    const sendUnknownKey = async () => {
      const connection = await Connection.open(service.url);
      connections.push(connection);
      const headers = { Authorization: `Bearer ${await newToken(stranger)}` };
      return connection.send({ method: "GET", path: "/plants", headers }).then((reply) => replies.push(reply));
    };
    const pending: Promise<number>[] = [];
    // Batches of fewer than 128 requests, so that the server does not shed load for another reason.
    for (let sent = BATCH; sent <= 4 * BATCH; sent += BATCH) {
      pending.push(...Array.from({ length: BATCH }, sendUnknownKey));
      const accepted = await Promise.all([api.list(own), api.create(own, { id: sent, name: "Iris" })]);
      expect(accepted.map(({ status }) => status)).toEqual([200, 200]);
      await until(() => replies.length >= sent - 64);
      expect((await api.list(await newToken(key))).status).toBe(200);
      expect(replies).toHaveLength(sent - 64);
    }
    // The provider has not responded yet.
    expect(provider.requestCount).toBe(before + 1);
    const rejected = replies.map(({ status, headers }) => [status, headers.get("retry-after")]);
    expect(rejected).toEqual(Array(4 * BATCH - 64).fill([503, "1"]));

    hung.resolve(Response.json(provider.keySet));
    await Promise.all(pending);
    expect(replies.slice(4 * BATCH - 64).map(({ status }) => status)).toEqual(Array(64).fill(401));
    for (const connection of connections) connection.close();
  });

  it("delays requests again after the waiting ones have ended", async () => {
    provider.keys = [key];
    service = await startService({ issuer: provider.newIssuer() });
    const api = await Api.of(service);
    for (const end of ["timeout", "response"]) {
      clock.advance(1_000);
      const hung = hangProvider();
      const before = provider.requestCount;
      const replies = Array.from({ length: 65 }, async () => api.list(await newToken(key)));
      expect((await Promise.race(replies)).error).toBe(50300);
      await until(() => provider.requestCount > before);
      if (end === "timeout") hung.timeout.abort();
      else hung.resolve(Response.json(provider.keySet));
      const statuses = (await Promise.all(replies)).map(({ status }) => status).sort();
      expect(statuses).toEqual(end === "timeout" ? Array(65).fill(503) : [...Array(64).fill(200), 503]);
    }
  });
});

describe("serve", () => {
  it("logs why it cannot fetch the keys, while cached keys still work", async () => {
    const folder = temporaryFolder();
    provider.keys = [key];
    const settings = ["--issuer", provider.issuer, "--audience", provider.audience, "--jwks-url", provider.jwksUrl];
    const server = await startServerProcess(["--database", `sqlite:${folder.path}/plants.db`, ...settings]);
    const list = async (signer: SigningKey) =>
      (await fetch(`${server.url}/plants`, { headers: { Authorization: `Bearer ${await newToken(signer)}` } })).status;
    expect(await list(key)).toBe(200);
    provider.fault = () => new Response(JSON.stringify(provider.keySet).padEnd(1024 * 1024 + 1));
    await until(async () => (await list(stranger)) === 503);
    expect(await list(key)).toBe(200);
    await server.stop();
    const line = server.log().find(({ msg }) => msg === "cannot fetch the identity provider's keys");
    expect(line).toMatchObject({
      level: "warn",
      err: { message: `${provider.jwksUrl} returned more than 1048576 bytes` },
    });
    folder.remove();
  });
});
