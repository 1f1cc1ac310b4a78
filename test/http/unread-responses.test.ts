import { afterEach, describe, expect, it, mock, spyOn } from "bun:test";
import { connect, type Socket } from "node:net";
import { asset } from "../../src/http/asset.ts";
import type { Route } from "../../src/http/routes.ts";
import { HttpServer } from "../../src/http/server.ts";
import { insertPlants, newOwner, type Service, startService } from "../support/service.ts";
import { until } from "../support/until.ts";

const MIB = 1024 * 1024;
const PLANTS = 12_000;

const services: Service[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  mock.restore();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const service of services.splice(0)) await service.stop();
});

const plants = (length: number, name: string) => Array.from({ length }, (_, id) => ({ id: BigInt(id), name }));

/** Starts a service with an owner of 12,000 plants. The complete list has 6 MB. */
async function startWithPlants(options: Parameters<typeof startService>[0] = {}) {
  const service = await startService(options);
  services.push(service);
  const owner = newOwner();
  await insertPlants(service, owner, plants(PLANTS, "x".repeat(500)));
  const token = await service.token({ owner });
  const get = (path: string, method = "GET") =>
    fetch(service.url + path, { method, headers: { Authorization: `Bearer ${token}` } });
  return { service, owner, token, get };
}

/** Sends a request and does not read the response. */
function stall(port: number, path: string, token = ""): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  sockets.push(socket);
  return socket;
}

/** Starts a server that accepts the token `good` and at most two authenticated requests at the same time. */
const serverWith = (routes: readonly Route[], onResponse = () => {}) =>
  new HttpServer({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    idleTimeoutSeconds: 30,
    maxRequests: 2,
    routes,
    authenticator: {
      authenticate: (secret) => (secret === "good" ? { owner: "ann", scopes: ["plants:read"] } : undefined),
    },
    onResponse,
  });

describe("a page asset", () => {
  it("is in memory once while many clients request it without reading", async () => {
    const COUNT = 200;
    let responses = 0;
    const handle = asset("text/plain", async () => "x".repeat(4 * MIB));
    const server = serverWith([{ operation: "page", method: "GET", path: "/asset", handle }], () => responses++);
    await (await fetch(`${server.url}/asset`)).bytes();
    const before = process.memoryUsage.rss();
    for (let n = 0; n < COUNT; n++) stall(Number(new URL(server.url).port), "/asset");
    await until(() => responses === COUNT + 1);
    expect(process.memoryUsage.rss() - before).toBeLessThan((COUNT * 4 * MIB) / 5);
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.stop(1_000);
  });
});

describe("large lists that clients do not read", () => {
  /** Opens connections that request a list without reading it, until one gets a 503. */
  async function stallUntilUnavailable({ service, token }: { service: Service; token: string }, path: string) {
    const stalled: Socket[] = [];
    do {
      stalled.push(stall(service.port, path, token));
      await until(() => service.responses.length === stalled.length);
    } while (service.responses.at(-1)?.status === 200);
    expect(service.responses.at(-1)).toMatchObject({ status: 503, error: { code: "unavailable" } });
    expect(service.budget.bytes).toBeLessThanOrEqual(8 * MIB);
    return stalled;
  }

  it.each([
    ["/plants", PLANTS],
    ["/plants?limit=3000", 3_000],
  ])("get a 503 while the budget is exhausted, unless they are small: %s", async (path, length) => {
    const running = await startWithPlants({ sendBufferBytes: 16 * MIB });
    const { service, get } = running;
    const stalled = await stallUntilUnavailable(running, path);
    expect((await (await get("/plants?limit=2")).json()) as unknown[]).toHaveLength(2);
    for (const socket of stalled) socket.destroy();
    await until(() => service.budget.bytes === 0);
    expect((await (await get(path)).json()) as unknown[]).toHaveLength(length);
  });

  it("do not affect other owners", async () => {
    const running = await startWithPlants({ sendBufferBytes: 16 * MIB });
    const other = newOwner();
    await insertPlants(running.service, other, plants(2_000, "x"));
    await stallUntilUnavailable(running, "/plants?limit=3000");
    const headers = { Authorization: `Bearer ${await running.service.token({ owner: other })}` };
    const list = await fetch(`${running.service.url}/plants`, { headers });
    expect((await list.json()) as unknown[]).toHaveLength(2_000);
  });

  it("take the memory of one chunk each, in the process and in the kernel", async () => {
    const { service, token } = await startWithPlants();
    let selected = 0;
    const select = service.storage.selectPlants.bind(service.storage);
    spyOn(service.storage, "selectPlants").mockImplementation(async (...args) => {
      const plants = await select(...args);
      selected += plants.length;
      return plants;
    });
    stall(service.port, "/plants", token);
    let before = -1;
    await until(async () => {
      if (selected > 0 && selected === before) return true;
      before = selected;
      await Bun.sleep(200);
      return false;
    });
    // The kernel's default of 4 MiB would take some 8,000 plants.
    expect(selected).toBeLessThan(3_000);
    expect(service.budget.bytes).toBeLessThan(100 * 1024);
  });

  it("release their memory when the connection times out", async () => {
    const { service, token } = await startWithPlants({ server: { idleTimeoutSeconds: 1 } });
    for (const path of ["/plants", "/plants?limit=4000"]) stall(service.port, path, token);
    await until(() => service.responses.length === 2);
    expect(service.budget.bytes).toBeGreaterThan(0);
    await until(() => service.budget.bytes === 0);
  });

  it.each(["/plants", "/plants?limit=4000"])("release their memory after HEAD %s", async (path) => {
    const { service, get } = await startWithPlants();
    expect((await get(path, "HEAD")).status).toBe(200);
    await until(() => service.budget.bytes === 0);
  });
});

describe("a list in progress", () => {
  /** Starts a list, ends the token before the client reads, creates a plant, and returns the bytes that the client reads. */
  async function readAfter(
    path: string,
    { expiresAt, end }: { expiresAt?: number; end(service: Service, token: string): unknown },
  ): Promise<string> {
    const { service, owner } = await startWithPlants();
    const token = await service.token({ owner, ...(expiresAt === undefined ? {} : { expiresAt }) });
    const socket = stall(service.port, path, token);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await until(() => service.responses.length === 1);
    await end(service, token);
    await service.storage.insertPlant(owner, { id: BigInt(PLANTS), name: "created after that" }, undefined);
    let text = "";
    socket.on("data", (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString();
    });
    socket.resume();
    await closed;
    expect(service.responses.at(-1)).toMatchObject({ isAborted: true, error: { code: "invalid_token" } });
    return text;
  }

  it.each(["/plants", "/plants?limit=4000"])("is aborted when its token is revoked: %s", async (path) => {
    const text = await readAfter(path, {
      async end(service, token) {
        await service.tokens.revoke(token);
        spyOn(performance, "now").mockReturnValue(performance.now() + 1_000);
      },
    });
    expect(text).not.toEndWith("0\r\n\r\n");
    expect(text).not.toContain("created after that");
  });

  it("is aborted when its token expires", async () => {
    const now = Date.now();
    const clock = spyOn(Date, "now");
    const text = await readAfter("/plants", {
      expiresAt: now + 600_000,
      end: () => clock.mockReturnValue(now + 700_000),
    });
    expect(text).not.toEndWith("0\r\n\r\n");
  });
});

describe("the limit on requests in progress", () => {
  const request = (url: string, token: string) => fetch(url, { headers: { Authorization: `Bearer ${token}` } });

  it("counts only authenticated requests, until their response begins", async () => {
    const held: (() => void)[] = [];
    const isHeld = () => new Promise<Response>((resolve) => held.push(() => resolve(new Response("done"))));
    const route = { method: "GET", handle: isHeld } as const;
    const server = serverWith([
      { ...route, operation: "open", path: "/open" },
      { ...route, operation: "closed", path: "/closed", scope: "plants:read" },
    ]);
    const open = Array.from({ length: 5 }, () => request(`${server.url}/open`, ""));
    await until(() => held.length === 5);
    const closed = Array.from({ length: 2 }, () => request(`${server.url}/closed`, "good"));
    await until(() => held.length === 7);
    expect((await request(`${server.url}/closed`, "good")).status).toBe(503);
    held.pop()?.();
    await Promise.any(closed);
    const next = request(`${server.url}/closed`, "good");
    await until(() => held.length === 7);
    for (const finish of held) finish();
    const statuses = (await Promise.all([...open, ...closed, next])).map(({ status }) => status);
    expect(statuses).toEqual(Array(8).fill(200));
    await server.stop(1_000);
  });
});
