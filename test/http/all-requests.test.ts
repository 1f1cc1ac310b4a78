import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from "bun:test";
import { AppError } from "../../src/domain/error.ts";
import { Api, exchange } from "../support/api.ts";
import { ENGINES } from "../support/engines.ts";
import { insertPlants, newOwner, type Service, startService } from "../support/service.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
const PATHS: [path: string, allow: string][] = [
  ["/plants", "GET, HEAD, POST"],
  ["/plants/5", "DELETE"],
  ["/plants/abc", "DELETE"],
  ["/livez", "GET, HEAD"],
  ["/readyz", "GET, HEAD"],
  ["/openapi.json", "GET, HEAD"],
  ["/", "GET, HEAD"],
  ["/docs", "GET, HEAD"],
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];

/** Plants that differ only in their ids. */
const newPlants = (length: number) => Array.from({ length }, (_, id) => ({ id: BigInt(id), name: "x" }));

describe.each(ENGINES)("on %s", (_, open) => {
  let service: Service;
  let api: Api;

  beforeAll(async () => {
    service = await startService({ open });
    api = await Api.of(service);
  });
  afterAll(() => service.stop());
  afterEach(() => {
    mock.restore();
  });

  const raw = (method: string, path: string, ...headers: string[]) =>
    api.sendRaw([`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "\r\n"].join("\r\n"));

  describe("every path", () => {
    const disallowed = PATHS.flatMap(([path, allow]) =>
      METHODS.filter((method) => !allow.split(", ").includes(method)).map((method) => [method, path, allow] as const),
    );

    it.each(disallowed)("returns 405 for %s %s with Allow: %s", async (method, path, allow) => {
      for (const headers of [[], [`Authorization: Bearer ${await service.token()}`]]) {
        const reply = await raw(method, path, ...headers);
        expect([reply.status, reply.headers.get("allow")]).toEqual([405, allow]);
        if (method !== "HEAD") expect(reply.error).toBe(40500);
      }
    });

    it.each([
      ...["/plant", "/Plants", "/plants/", "/plants/1/2", "//plants", "/plants//1", "/livez/", "/openapi.yaml"],
      ...["/metrics", "/index.php", "/.env", "/%00", "/%FF", "/%", "/..", "/plants/../livez", `/${"x".repeat(5_000)}`],
    ])("returns 404 for %s with any method", async (path) => {
      for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) expect((await raw(method, path)).error).toBe(40401);
      expect((await raw("HEAD", path)).status).toBe(404);
    });

    it.each([
      "/plants",
      "/plants?limit=1",
      "/livez",
      "/readyz",
      "/openapi.json",
      "/",
      "/docs",
      "/plants?limit=0",
      "/nope",
      "/plants/5",
    ])("returns the same headers for HEAD %s as for GET", async (path) => {
      const token = await service.token();
      for (const id of [1, 2]) await api.create(token, { id, name: "x" });
      for (const headers of [[], [`Authorization: Bearer ${token}`]]) {
        const [get, head] = [await raw("GET", path, ...headers), await raw("HEAD", path, ...headers)];
        expect(head.status).toBe(get.status);
        for (const name of [
          "content-length",
          "content-type",
          "cache-control",
          "link",
          "www-authenticate",
          "allow",
          "etag",
        ]) {
          expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
        }
        expect(Number(head.headers.get("content-length"))).toBe(Buffer.byteLength(get.text));
      }
    });

    it("returns no body for HEAD of a long list", async () => {
      const owner = newOwner();
      await insertPlants(service, owner, newPlants(2_500));
      const reply = await raw("HEAD", "/plants", `Authorization: Bearer ${await service.token({ owner })}`);
      expect([reply.status, reply.text]).toEqual([200, ""]);
    });
  });

  describe("X-Request-Id", () => {
    const REQUESTS = [
      ["GET", "/livez", 200],
      ["GET", "/plants", 200],
      ["DELETE", "/plants/5", 204],
      ["GET", "/plants?limit=0", 400],
      ["GET", "/nope", 404],
      ["PUT", "/plants", 405],
    ] as const;

    it.each(REQUESTS)("is returned by %s %s (%d) when it is valid", async (method, path, status) => {
      for (const id of ["a", "!~", "0f8fad5b-d9cb-469f-a165-70867728950e", '"<>{}', "x".repeat(128)]) {
        const token = await service.token();
        await api.create(token, { id: 5, name: "x" });
        const reply = await api.send(method, path, { token, headers: { "X-Request-Id": id } });
        expect([reply.status, reply.headers.get("x-request-id")]).toEqual([status, id]);
        expect(service.responses.at(-1)?.call.requestId).toBe(id);
      }
    });

    it("is returned by a request that is not authorized", async () => {
      const reply = await api.send("GET", "/plants", { headers: { "X-Request-Id": "mine" } });
      expect([reply.status, reply.headers.get("x-request-id")]).toEqual([401, "mine"]);
    });

    it.each([["X-Request-Id: a b"], ["X-Request-Id:"], ["X-Request-Id: é"], [`X-Request-Id: ${"x".repeat(129)}`]])(
      "is generated for %p",
      async (header) => {
        const reply = await raw("GET", "/livez", header);
        expect(reply.headers.get("x-request-id")).toMatch(/^[\x21-\x7e]{1,128}$/);
        expect(header).not.toContain(String(reply.headers.get("x-request-id")));
      },
    );

    it("is generated when the header is repeated", async () => {
      const reply = await raw("GET", "/livez", "X-Request-Id: a", "X-Request-Id: b");
      expect(reply.headers.get("x-request-id")).not.toBeOneOf(["a", "b", "a, b", "a,b"]);
    });

    it("is unique for each request when generated", async () => {
      const replies = await Promise.all(Array.from({ length: 100 }, () => api.send("GET", "/livez")));
      expect(new Set(replies.map(({ headers }) => headers.get("x-request-id"))).size).toBe(100);
    });
  });

  describe("a server error", () => {
    const SECRET = "/var/lib/secret.db is on fire";
    const OPERATIONS = [
      ["POST", "/plants", "insertPlant"],
      ["GET", "/plants", "selectPlants"],
      ["GET", "/plants?limit=5", "selectPlants"],
      ["DELETE", "/plants/5", "deletePlant"],
      ["POST", "/plants", "selectToken"],
      ["GET", "/plants", "selectToken"],
      ["DELETE", "/plants/5", "selectToken"],
      ["GET", "/readyz", "ping"],
    ] as const;

    async function sendWhile(fault: unknown, method: string, path: string, broken: (typeof OPERATIONS)[number][2]) {
      const token = await service.token();
      spyOn(service.storage, broken).mockRejectedValue(fault);
      const body = method === "POST" ? { body: '{"id":1,"name":"x"}' } : {};
      return api.send(method, path, { token, headers: JSON_TYPE, ...body });
    }

    it.each(OPERATIONS)(
      "is a 500 without details for %s %s when %s throws an unexpected value",
      async (method, path, broken) => {
        for (const fault of [
          new Error(SECRET),
          new AppError("internal", SECRET),
          new TypeError(SECRET),
          SECRET,
          undefined,
        ]) {
          const reply = await sendWhile(fault, method, path, broken);
          expect([reply.error, reply.headers.get("retry-after")]).toEqual([50000, null]);
          expect(reply.text + JSON.stringify([...reply.headers])).not.toMatch(/secret|fire|Error:|\.ts/);
          expect(service.responses.at(-1)?.error?.cause).toBe(fault);
        }
      },
    );

    it.each(OPERATIONS)("is a 503 for %s %s when %s throws unavailable", async (method, path, broken) => {
      const reply = await sendWhile(new AppError("unavailable", "try again"), method, path, broken);
      expect(reply.error).toBe(50300);
      expect(reply.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    });

    it("in the middle of a long list aborts the connection", async () => {
      const owner = newOwner();
      await insertPlants(service, owner, newPlants(2_500));
      const token = await service.token({ owner });
      const select = service.storage.selectPlants.bind(service.storage);
      spyOn(service.storage, "selectPlants").mockImplementation((...args) =>
        args[1].after === undefined ? select(...args) : Promise.reject(new AppError("unavailable", SECRET)),
      );
      for (const version of ["1.0", "1.1"]) {
        const request = `GET /plants HTTP/${version}\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
        await expect(exchange(service.port, request)).rejects.toThrow("ECONNRESET");
        expect(service.responses.at(-1)).toMatchObject({ operation: "listPlants", status: 503, isAborted: true });
        expect(service.responses.at(-1)?.error?.code).toBe("unavailable");
      }
      mock.restore();
      expect(await api.ids(token)).toHaveLength(2_500);
    });
  });

  it("reports no error when a client disconnects in the middle of a long list", async () => {
    const owner = newOwner();
    await insertPlants(service, owner, newPlants(1_200));
    const token = await service.token({ owner });
    const select = service.storage.selectPlants.bind(service.storage);
    const disconnected = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    spyOn(service.storage, "selectPlants").mockImplementation(async (...args) => {
      if (args[1].after === undefined) return select(...args);
      reading.resolve();
      await disconnected.promise;
      setImmediate(read.resolve);
      return select(...args);
    });
    const client = new AbortController();
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${service.url}/plants`, { headers, signal: client.signal });
    await reading.promise;
    client.abort();
    await response.text().catch(() => {});
    for (let tick = 0; tick < 100; tick++) await new Promise((resolve) => setImmediate(resolve));
    disconnected.resolve();
    await read.promise;
    for (let tick = 0; tick < 10; tick++) await new Promise((resolve) => setImmediate(resolve));
    mock.restore();
    expect(service.responses.at(-1)).toMatchObject({ operation: "listPlants", status: 200, isAborted: false });
  });

  describe("health probes", () => {
    it("report live but not ready while the database is unavailable", async () => {
      for (const broken of ["ping", "selectPlants", "selectToken"] as const) {
        spyOn(service.storage, broken).mockRejectedValue(new AppError("unavailable", "try again"));
      }
      expect((await api.send("GET", "/livez")).status).toBe(200);
      expect((await api.send("GET", "/readyz")).error).toBe(50300);
      mock.restore();
      expect((await api.send("GET", "/readyz")).status).toBe(200);
    });

    it("do not access the database for liveness", async () => {
      const calls = [spyOn(service.storage, "ping"), spyOn(service.storage, "selectToken")];
      await api.send("GET", "/livez", { token: await service.token() });
      for (const call of calls) expect(call).not.toHaveBeenCalled();
    });

    it("accept HTTP/1.0 without Host", async () => {
      expect(await exchange(service.port, "GET /readyz HTTP/1.0\r\n\r\n")).toMatch(
        /^HTTP\/1\.[01] 200 OK\r\n.*\r\n\r\n./s,
      );
    });
  });

  describe("malformed HTTP requests", () => {
    it.each<[string, string | Uint8Array]>([
      ["a word", "garbage\r\n\r\n"],
      ["binary", Uint8Array.of(0, 1, 2, 255, 13, 10, 13, 10)],
      ["no Host", "GET /livez HTTP/1.1\r\n\r\n"],
      ["a header without a colon", "GET /livez HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"],
      ["a header name with a space", "GET /livez HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n"],
      ["a negative length", "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"],
      ["a length that is not an integer", "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 1e3\r\n\r\n"],
      ["two lengths", "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
      [
        "two framings",
        "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ],
    ])("get a 400 and close the connection: %s", async (_description, bytes) => {
      expect(await exchange(service.port, bytes)).toMatch(/^HTTP\/1\.1 400 /);
      expect((await api.send("GET", "/livez")).status).toBe(200);
    });
  });
});
