import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConnectionError, PlantStoreClient, PlantStoreError } from "../../src/client/index.ts";
import { ID_MAX, ID_MIN } from "../../src/domain/plant.ts";
import { ENGINES } from "../support/engines.ts";
import { type Service, startService } from "../support/service.ts";

const FIVE_IDS = [ID_MIN, -(2n ** 53n) - 1n, 0n, 2n ** 53n + 1n, ID_MAX] as const;

/** Stubbed response; `disconnect` closes the connection without one. */
type StubResponse = "disconnect" | { status: number; headers?: Record<string, string>; body?: string };

interface Stub {
  readonly url: string;
  readonly requests: { method: string; path: string; key: string | undefined; body: string; atMs: number }[];
}

/** Runs `use` with a server that returns these responses in order and then repeats the last one. */
async function withStub(responses: readonly StubResponse[], use: (stub: Stub) => Promise<void>): Promise<void> {
  const requests: Stub["requests"] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const atMs = performance.now();
    const body = Buffer.concat(await Array.fromAsync(request)).toString();
    const key = request.headers["idempotency-key"] as string | undefined;
    requests.push({ method: request.method ?? "", path: request.url ?? "", key, body, atMs });
    const stubbed = responses[Math.min(requests.length, responses.length) - 1] ?? "disconnect";
    if (stubbed === "disconnect") request.socket.destroy();
    else response.writeHead(stubbed.status, { Connection: "close", ...stubbed.headers }).end(stubbed.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const errorResponse = (number: number, headers = {}): StubResponse => ({
  status: Math.floor(number / 100),
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify({ error: number, message: "because" }),
});
const created: StubResponse = { status: 200, body: '{"name":"Fern"}' };
const deleted: StubResponse = { status: 204 };
const fern = { id: 1n, name: "Fern" };
const clientOf = ({ url }: Stub, options = {}) =>
  new PlantStoreClient({ url, token: "plt_x", baseDelayMs: 1, attempts: 4, ...options });
const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error) => error,
  );

describe("PlantStoreClient with a failing server", () => {
  it("rejects without a retry on a permanent error, with the details of the response", async () => {
    for (const number of [40002, 40003, 40101, 40300, 40401]) {
      await withStub([errorResponse(number, { "X-Request-Id": "abc" })], async (stub) => {
        const error = await rejectionOf(clientOf(stub).createPlant(fern));
        expect(error).toBeInstanceOf(PlantStoreError);
        expect(error).toMatchObject({ number, status: Math.floor(number / 100), requestId: "abc", message: "because" });
        expect(stub.requests).toHaveLength(1);
      });
    }
  });

  it("rejects with the code `unknown` when the response is not from Plant Store", async () => {
    const foreign: StubResponse[] = [
      { status: 400, body: "<h1>Bad Request</h1>" },
      { status: 404, body: '{"error":40003,"message":"another status"}' },
      { status: 403, body: "null" },
      { status: 400, body: '{"error":"40003","message":"no number"}' },
    ];
    for (const response of foreign) {
      await withStub([response], async (stub) => {
        const error = await rejectionOf(clientOf(stub).listPage());
        expect(error).toBeInstanceOf(PlantStoreError);
        expect(error).toMatchObject({ code: "unknown", number: 0, requestId: undefined });
      });
    }
  });

  it("retries a create with the same idempotency key until it succeeds", async () => {
    const failures: StubResponse[] = [
      errorResponse(50300),
      errorResponse(42900),
      errorResponse(50000),
      { status: 502 },
      "disconnect",
    ];
    for (const response of failures) {
      await withStub([response, response, created], async (stub) => {
        expect(await clientOf(stub).createPlant(fern)).toEqual({ name: "Fern" });
        expect(stub.requests.map(({ body }) => body)).toEqual(Array(3).fill('{"id":1,"name":"Fern"}'));
        const keys = new Set(stub.requests.map(({ key }) => key));
        expect(keys.size).toBe(1);
        expect([...keys][0]).toMatch(/^[\x21-\x7e]{8,255}$/);
      });
    }
  });

  it("sends the given idempotency key, or a new one for each call", () =>
    withStub([errorResponse(50300), created], async (stub) => {
      const client = clientOf(stub);
      for (const options of [{ idempotencyKey: "mine" }, {}, {}]) await client.createPlant(fern, options);
      const [first, second, ...others] = stub.requests.map(({ key }) => key);
      expect([first, second]).toEqual(["mine", "mine"]);
      expect(new Set(others).size).toBe(2);
    }));

  it("rejects with the last error when all attempts have failed", async () => {
    await withStub([errorResponse(50300)], async (stub) => {
      expect(await rejectionOf(clientOf(stub).listPage())).toMatchObject({
        name: "PlantStoreError",
        code: "unavailable",
      });
      expect(stub.requests).toHaveLength(4);
    });
    await withStub(["disconnect"], async (stub) => {
      expect(await rejectionOf(clientOf(stub, { attempts: 2 }).deletePlant(1n))).toBeInstanceOf(ConnectionError);
    });
  });

  const unresponsive: [
    condition: string,
    open: () => { readonly port?: number | undefined; stop(closeAll: true): unknown },
  ][] = [
    ["the connection is refused", () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() })],
    ["the response times out", () => Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Promise(() => {}) })],
    [
      "the response is truncated",
      () => listen((socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"n')),
    ],
  ];
  const listen = (data: (socket: Bun.Socket) => void) =>
    Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
  for (const [condition, open] of unresponsive) {
    it(`rejects with ConnectionError when ${condition}`, async () => {
      const server = open();
      if (condition === "the connection is refused") await server.stop(true);
      const stub = { url: `http://127.0.0.1:${server.port}`, requests: [] };
      const error = await rejectionOf(clientOf(stub, { attempts: 2, timeoutMs: 50 }).createPlant(fern));
      await server.stop(true);
      expect(error).toBeInstanceOf(ConnectionError);
      expect((error as Error).message).toContain(stub.url);
    });
  }

  it("delays the retry by at least Retry-After", () =>
    withStub([errorResponse(50300, { "Retry-After": "1" }), created], async (stub) => {
      await clientOf(stub).createPlant(fern);
      const [first, second] = stub.requests.map(({ atMs }) => atMs);
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(990);
    }));

  it("rejects with the signal's reason when the call is aborted, before or during a retry delay", async () => {
    const reason = new Error("aborted by the test");
    await withStub([errorResponse(50300, { "Retry-After": "60" })], async (stub) => {
      expect(await rejectionOf(clientOf(stub).createPlant(fern, { signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(stub.requests).toHaveLength(0);
      const controller = new AbortController();
      const call = rejectionOf(clientOf(stub).listPage({ signal: controller.signal }));
      while (stub.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
      controller.abort(reason);
      expect(await call).toBe(reason);
      expect(stub.requests).toHaveLength(1);
    });
  });

  const deletions: [behavior: string, responses: readonly StubResponse[], code: string | undefined][] = [
    ["rejects with plant_not_found on a 404 to the first attempt", [errorResponse(40400)], "plant_not_found"],
    ["resolves on a 404 after an attempt without a response", ["disconnect", errorResponse(40400)], undefined],
    ["resolves on a 404 after a 5xx response", [errorResponse(50300), errorResponse(40400)], undefined],
    [
      "rejects with plant_not_found on a 404 after a 429",
      [errorResponse(42900), errorResponse(40400)],
      "plant_not_found",
    ],
    [
      "rejects with path_not_found on a 404 of another path after an attempt without a response",
      ["disconnect", errorResponse(40401)],
      "path_not_found",
    ],
    ["resolves on a 204 after an attempt without a response", ["disconnect", deleted], undefined],
  ];
  for (const [behavior, responses, code] of deletions) {
    it(`deletePlant ${behavior}`, () =>
      withStub(responses, async (stub) => {
        const error = await rejectionOf(clientOf(stub).deletePlant(ID_MIN));
        expect((error as PlantStoreError | undefined)?.code).toBe(code as PlantStoreError["code"]);
        expect(stub.requests).toHaveLength(responses.length);
        expect(stub.requests[0]).toMatchObject({ method: "DELETE", path: "/plants/-9223372036854775808" });
      }));
  }
});

describe.each(ENGINES)("PlantStoreClient with a server on %s", (_, open) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ open });
  });
  afterAll(() => service.stop());
  const newClient = async (urlSuffix = "") =>
    new PlantStoreClient({ url: service.url + urlSuffix, token: await service.token() });

  it("rejects with the error code and the request id of the server's log", async () => {
    const client = await newClient();
    await client.createPlant(fern);
    const error = (await rejectionOf(client.createPlant(fern))) as PlantStoreError;
    expect(error).toMatchObject({ name: "PlantStoreError", code: "duplicate_id", number: 40003, status: 400 });
    expect(error.message).toContain("id 1 is already in use");
    expect(error.requestId).toBe(service.responses.at(-1)?.call.requestId as string);
    expect(await rejectionOf(client.deletePlant(2n))).toMatchObject({
      code: "plant_not_found",
      number: 40400,
      status: 404,
    });
    const unauthenticated = new PlantStoreClient({ url: service.url, token: "plt_unknown" });
    expect(await rejectionOf(unauthenticated.listPage())).toMatchObject({
      code: "invalid_token",
      number: 40101,
      status: 401,
    });
  });

  it("creates, lists and deletes plants with exact ids, and distinguishes no tag from an empty one", async () => {
    const client = await newClient("//");
    const plants = FIVE_IDS.map((id, n) => ({ id, name: `plant ${id}`, ...[{}, { tag: "" }, { tag: "é" }][n % 3] }));
    for (const { id, ...plant } of plants) expect(await client.createPlant({ id, ...plant })).toStrictEqual(plant);
    expect(await client.listPage()).toStrictEqual({ plants });
    expect(await client.listPage({ tag: "" })).toStrictEqual({ plants: plants.filter(({ tag }) => tag === "") });
    for (const id of FIVE_IDS) await client.deletePlant(id);
    expect(await client.listPage()).toStrictEqual({ plants: [] });
  });

  it("resolves a repeated create with the same idempotency key", async () => {
    const client = await newClient();
    const options = { idempotencyKey: "k" };
    expect(await client.createPlant(fern, options)).toEqual(await client.createPlant(fern, options));
  });

  it("lists all plants with any page size", async () => {
    const client = await newClient();
    const plants = FIVE_IDS.map((id) => ({ id, name: "Fern", tag: "a&b=c#d+e%" }));
    for (const plant of plants) await client.createPlant(plant);
    await client.createPlant({ id: 5n, name: "untagged" });
    const { tag } = plants[0] ?? {};
    expect(await client.listPage({ tag, limit: 2 })).toStrictEqual({ plants: plants.slice(0, 2), next: FIVE_IDS[1] });
    for (const limit of [1, 2, 3, 4, 5, 6, undefined]) {
      const options = { tag, ...(limit === undefined ? {} : { limit }) };
      expect(await Array.fromAsync(client.listPlants(options))).toStrictEqual(plants);
      const remaining = client.listPlants({ ...options, after: FIVE_IDS[1] });
      expect(await Array.fromAsync(remaining)).toStrictEqual(plants.slice(2));
      expect(await Array.fromAsync(client.listPlants({ ...options, after: ID_MAX }))).toEqual([]);
    }
  });
});
