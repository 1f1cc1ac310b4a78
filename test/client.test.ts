import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConnectionError, PlantStoreClient, PlantStoreError } from "../src/client/index.ts";
import { ID_MAX, ID_MIN } from "../src/domain/plant.ts";
import { ENGINES } from "./support/engines.ts";
import { type Service, startService } from "./support/service.ts";

const FIVE_IDS = [ID_MIN, -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, ID_MAX] as const;

/** One answer of a stub: a status, with headers and a body; or `cut` for none at all. */
type Reply = "cut" | { status: number; headers?: Record<string, string>; body?: string };

interface Stub {
  readonly url: string;
  readonly requests: { method: string; path: string; key: string | undefined; body: string; atMs: number }[];
}

/** Runs `use` with a server that gives these answers in turn, and the last one for ever. */
async function withStub(replies: readonly Reply[], use: (stub: Stub) => Promise<void>): Promise<void> {
  const requests: Stub["requests"] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const atMs = performance.now();
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const key = request.headers["idempotency-key"] as string | undefined;
    requests.push({ method: request.method ?? "", path: request.url ?? "", key, body, atMs });
    const reply = replies[Math.min(requests.length, replies.length) - 1] ?? "cut";
    if (reply === "cut") request.socket.destroy();
    else response.writeHead(reply.status, { Connection: "close", ...reply.headers }).end(reply.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const failure = (number: number, headers = {}): Reply => ({
  status: Math.floor(number / 100),
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify({ error: number, message: "because" }),
});
const created: Reply = { status: 200, body: '{"name":"Fern"}' };
const deleted: Reply = { status: 204 };
const fern = { id: 1n, name: "Fern" };
const clientOf = ({ url }: Stub, options = {}) =>
  new PlantStoreClient({ url, token: "plt_x", baseDelayMs: 1, attempts: 4, ...options });
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error) => error,
  );

describe("PlantStoreClient on a server that fails", () => {
  it("gives up at once on a refusal that stays, with all that the server said", async () => {
    for (const number of [40002, 40003, 40101, 40300, 40401]) {
      await withStub([failure(number, { "X-Request-Id": "abc" })], async (stub) => {
        const error = await caught(clientOf(stub).createPlant(fern));
        expect(error).toBeInstanceOf(PlantStoreError);
        expect(error).toMatchObject({ number, status: Math.floor(number / 100), requestId: "abc", message: "because" });
        expect(stub.requests).toHaveLength(1);
      });
    }
  });

  it("calls a refusal by a server that is no Plant Store unknown", async () => {
    const strange: Reply[] = [
      { status: 400, body: "<h1>Bad Request</h1>" },
      { status: 404, body: '{"error":40003,"message":"another status"}' },
      { status: 403, body: "null" },
      { status: 400, body: '{"error":"40003","message":"no number"}' },
    ];
    for (const reply of strange) {
      await withStub([reply], async (stub) => {
        const error = await caught(clientOf(stub).listPage());
        expect(error).toBeInstanceOf(PlantStoreError);
        expect(error).toMatchObject({ code: "unknown", number: 0, requestId: undefined });
      });
    }
  });

  it("tries again, with one idempotency key, until the server answers", async () => {
    const failures: Reply[] = [failure(50300), failure(42900), failure(50000), { status: 502 }, "cut"];
    for (const reply of failures) {
      await withStub([reply, reply, created], async (stub) => {
        expect(await clientOf(stub).createPlant(fern)).toEqual({ name: "Fern" });
        expect(stub.requests.map(({ body }) => body)).toEqual(Array(3).fill('{"id":1,"name":"Fern"}'));
        const keys = new Set(stub.requests.map(({ key }) => key));
        expect(keys.size).toBe(1);
        expect([...keys][0]).toMatch(/^[\x21-\x7e]{8,255}$/);
      });
    }
  });

  it("makes another key for each call, and sends the caller's own when there is one", () =>
    withStub([failure(50300), created], async (stub) => {
      const client = clientOf(stub);
      for (const options of [{ idempotencyKey: "mine" }, {}, {}]) await client.createPlant(fern, options);
      const [first, second, ...others] = stub.requests.map(({ key }) => key);
      expect([first, second]).toEqual(["mine", "mine"]);
      expect(new Set(others).size).toBe(2);
    }));

  it("rejects with the last failure when its attempts are used up", async () => {
    await withStub([failure(50300)], async (stub) => {
      expect(await caught(clientOf(stub).listPage())).toMatchObject({ name: "PlantStoreError", code: "unavailable" });
      expect(stub.requests).toHaveLength(4);
    });
    await withStub(["cut"], async (stub) => {
      expect(await caught(clientOf(stub, { attempts: 2 }).deletePlant(1n))).toBeInstanceOf(ConnectionError);
    });
  });

  const deadEnds: [what: string, open: () => { readonly port?: number | undefined; stop(closeAll: true): unknown }][] =
    [
      ["nobody listens", () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() })],
      [
        "the answer takes too long",
        () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise(() => {}) }),
      ],
      [
        "the answer breaks off",
        () => listen((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"n')),
      ],
    ];
  const listen = (data: (socket: Bun.Socket) => void) =>
    Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
  for (const [what, open] of deadEnds) {
    it(`rejects with ConnectionError when ${what}`, async () => {
      const server = open();
      if (what === "nobody listens") await server.stop(true);
      const stub = { url: `http://127.0.0.1:${server.port}`, requests: [] };
      const error = await caught(clientOf(stub, { attempts: 2, timeoutMs: 50 }).createPlant(fern));
      await server.stop(true);
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as Error).message).toContain(stub.url);
    });
  }

  it("waits as long as Retry-After says before it tries again", () =>
    withStub([failure(50300, { "Retry-After": "1" }), created], async (stub) => {
      await clientOf(stub).createPlant(fern);
      const [first, second] = stub.requests.map(({ atMs }) => atMs);
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(990);
    }));

  it("gives a call up, waiting or not, with the signal's reason", async () => {
    const reason = new Error("enough");
    await withStub([failure(50300, { "Retry-After": "60" })], async (stub) => {
      expect(await caught(clientOf(stub).createPlant(fern, { signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(stub.requests).toHaveLength(0);
      const stop = new AbortController();
      const call = caught(clientOf(stub).listPage({ signal: stop.signal }));
      while (stub.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      stop.abort(reason);
      expect(await call).toBe(reason);
      expect(stub.requests).toHaveLength(1);
    });
  });

  const deletions: [what: string, replies: readonly Reply[], outcome: string | undefined][] = [
    ["a 404 at the first attempt is an error", [failure(40400)], "plant_not_found"],
    ["a 404 after no answer means done", ["cut", failure(40400)], undefined],
    ["a 404 after a failure of the server means done", [failure(50300), failure(40400)], undefined],
    ["a 404 after too many requests is an error", [failure(42900), failure(40400)], "plant_not_found"],
    ["another path's 404 is an error even then", ["cut", failure(40401)], "path_not_found"],
    ["no answer and then 204 means done", ["cut", deleted], undefined],
  ];
  for (const [what, replies, outcome] of deletions) {
    it(`deletes: ${what}`, () =>
      withStub(replies, async (stub) => {
        const error = await caught(clientOf(stub).deletePlant(ID_MIN));
        expect((error as PlantStoreError | undefined)?.code).toBe(outcome as PlantStoreError["code"]);
        expect(stub.requests).toHaveLength(replies.length);
        expect(stub.requests[0]).toMatchObject({ method: "DELETE", path: "/plants/-9223372036854775808" });
      }));
  }
});

describe.each(ENGINES)("PlantStoreClient on a real server, on %s", (_, open) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ open });
  });
  afterAll(() => service.stop());
  const newClient = async (more = "") =>
    new PlantStoreClient({ url: service.url + more, token: await service.token() });

  it("names what the server refuses, with the X-Request-Id of the log", async () => {
    const client = await newClient();
    await client.createPlant(fern);
    const error = (await caught(client.createPlant(fern))) as PlantStoreError;
    expect(error).toMatchObject({ name: "PlantStoreError", code: "duplicate_id", number: 40003, status: 400 });
    expect(error.message).toContain("id 1 is already in use");
    expect(error.requestId).toBe(service.answers.at(-1)?.call.requestId as string);
    expect(await caught(client.deletePlant(2n))).toMatchObject({ code: "plant_not_found", number: 40400, status: 404 });
    const stranger = new PlantStoreClient({ url: service.url, token: "plt_nobody" });
    expect(await caught(stranger.listPage())).toMatchObject({ code: "invalid_token", number: 40101, status: 401 });
  });

  it("creates, lists and deletes with every digit of an id, and keeps no tag apart from an empty one", async () => {
    const client = await newClient("//");
    const plants = FIVE_IDS.map((id, n) => ({ id, name: `plant ${id}`, ...[{}, { tag: "" }, { tag: "é" }][n % 3] }));
    for (const { id, ...plant } of plants) expect(await client.createPlant({ id, ...plant })).toStrictEqual(plant);
    expect(await client.listPage()).toStrictEqual({ plants });
    expect(await client.listPage({ tag: "" })).toStrictEqual({ plants: plants.filter(({ tag }) => tag === "") });
    for (const id of FIVE_IDS) await client.deletePlant(id);
    expect(await client.listPage()).toStrictEqual({ plants: [] });
  });

  it("takes a create that is asked again with the same key as the same create", async () => {
    const client = await newClient();
    const options = { idempotencyKey: "k" };
    expect(await client.createPlant(fern, options)).toEqual(await client.createPlant(fern, options));
  });

  it("lists page by page, whatever the length of a page", async () => {
    const client = await newClient();
    const plants = FIVE_IDS.map((id) => ({ id, name: "Fern", tag: "a&b=c#d+e%" }));
    for (const plant of plants) await client.createPlant(plant);
    await client.createPlant({ id: 5n, name: "without a tag" });
    const { tag } = plants[0] ?? {};
    expect(await client.listPage({ tag, limit: 2 })).toStrictEqual({ plants: plants.slice(0, 2), next: FIVE_IDS[1] });
    for (const limit of [1, 2, 3, 4, 5, 6, undefined]) {
      const options = { tag, ...(limit === undefined ? {} : { limit }) };
      expect(await Array.fromAsync(client.listPlants(options))).toStrictEqual(plants);
      const rest = client.listPlants({ ...options, after: FIVE_IDS[1] });
      expect(await Array.fromAsync(rest)).toStrictEqual(plants.slice(2));
      expect(await Array.fromAsync(client.listPlants({ ...options, after: ID_MAX }))).toEqual([]);
    }
  });
});
