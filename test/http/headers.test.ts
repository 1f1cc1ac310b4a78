import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Api, type RequestOptions } from "../support/api.ts";
import { type Service, startService } from "../support/service.ts";

const SHOP = "https://shop.example";
const LAB = "http://localhost:5173";

let service: Service;
let api: Api;
let closed: Service;

beforeAll(async () => {
  service = await startService({ server: { corsOrigins: [SHOP, LAB] } });
  api = await Api.of(service);
  closed = await startService();
});
afterAll(() => Promise.all([service.stop(), closed.stop()]));

const JSON_TYPE = { "Content-Type": "application/json" };
const REQUESTS: [method: string, path: string, options: RequestOptions, status: number][] = [
  ["GET", "/plants", {}, 200],
  ["HEAD", "/plants", {}, 200],
  ["POST", "/plants", { headers: JSON_TYPE, body: '{"id":1,"name":"x"}' }, 200],
  ["DELETE", "/plants/1", {}, 204],
  ["DELETE", "/plants/1", {}, 404],
  ["GET", "/plants?limit=0", {}, 400],
  ["GET", "/plants", { token: "x" }, 401],
  ["PUT", "/plants", {}, 405],
  ["OPTIONS", "/plants", {}, 405],
  ["GET", "/nope", {}, 404],
  ["GET", "/livez", {}, 200],
  ["GET", "/openapi.json", {}, 200],
  ["GET", "/", {}, 200],
  ["GET", "/docs", {}, 200],
];

describe("every response", () => {
  it("has X-Content-Type-Options: nosniff, and no HSTS over plain HTTP", async () => {
    const token = await service.token();
    for (const [method, path, options, status] of REQUESTS) {
      const reply = await api.send(method, path, { token, ...options });
      expect([method, path, reply.status]).toEqual([method, path, status]);
      expect([path, reply.headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
      expect(reply.headers.get("strict-transport-security")).toBeNull();
    }
  });
});

const corsHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-")));
const hasVary = (headers: Headers) => /(^|, )Origin($|,)/.test(headers.get("vary") ?? "");

describe("CORS", () => {
  it.each([SHOP, LAB])("allows the listed origin %s to read every response", async (origin) => {
    const token = await service.token();
    for (const [method, path, options, status] of REQUESTS) {
      const headers = { ...options.headers, Origin: origin };
      const reply = await api.send(method, path, { token, ...options, headers });
      expect([method, path, reply.status]).toEqual([method, path, status]);
      expect(corsHeaders(reply.headers)).toEqual({
        "access-control-allow-origin": origin,
        "access-control-expose-headers":
          "Link, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id",
      });
      expect([path, hasVary(reply.headers)]).toEqual([path, true]);
    }
  });

  const OTHER_ORIGINS = [
    ...["https://evil.example", "null", "*", "", "https://shop.example.evil.example", "https://evil.shop.example"],
    ...["http://shop.example", "https://shop.example:8443", "https://shop.example/", "HTTPS://SHOP.EXAMPLE"],
    ...[`${SHOP}, ${LAB}`, `${SHOP} ${LAB}`, "https://shop.exampl", "http://localhost:51730"],
  ];
  it.each(OTHER_ORIGINS)("does not allow the origin %p to read responses", async (origin) => {
    for (const [method, path, options] of REQUESTS) {
      const { headers } = await api.send(method, path, { ...options, headers: { ...options.headers, Origin: origin } });
      expect(corsHeaders(headers)).toEqual({});
      expect(hasVary(headers)).toBe(true);
    }
  });

  const preflight = (origin: string, method = "POST") => ({
    headers: {
      Origin: origin,
      "Access-Control-Request-Method": method,
      "Access-Control-Request-Headers": "authorization,content-type,idempotency-key",
    },
  });

  it.each([
    ["/plants", "GET, HEAD, POST"],
    ["/plants/5", "DELETE"],
    ["/openapi.json", "GET, HEAD"],
  ])("responds to a preflight for %s without a token with the methods %s", async (path, methods) => {
    const reply = await api.send("OPTIONS", path, preflight(SHOP));
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expect(corsHeaders(reply.headers)).toEqual({
      "access-control-allow-origin": SHOP,
      "access-control-expose-headers": expect.any(String),
      "access-control-allow-methods": methods,
      "access-control-allow-headers": "Authorization, Content-Type, Idempotency-Key, X-Request-Id",
      "access-control-max-age": "86400",
    });
    expect([hasVary(reply.headers), reply.headers.get("x-content-type-options")]).toEqual([true, "nosniff"]);
    expect(service.responses.at(-1)).toMatchObject({ operation: "preflight", status: 204, error: undefined });
  });

  it.each(OTHER_ORIGINS)("returns 405 without CORS headers for a preflight from the origin %p", async (origin) => {
    const reply = await api.send("OPTIONS", "/plants", preflight(origin));
    expect([reply.error, reply.headers.get("allow"), corsHeaders(reply.headers)]).toEqual([
      40500,
      "GET, HEAD, POST",
      {},
    ]);
  });

  it("returns 404 for a preflight for an unknown path", async () => {
    expect((await api.send("OPTIONS", "/nope", preflight(SHOP))).error).toBe(40401);
  });

  it("never allows credentials", async () => {
    for (const method of ["OPTIONS", "GET"]) {
      const { headers } = await api.send(method, "/plants", preflight(SHOP));
      expect(headers.get("access-control-allow-credentials")).toBeNull();
    }
  });

  it("is disabled when no origins are configured", async () => {
    for (const origin of [SHOP, LAB, "null"]) {
      for (const method of ["OPTIONS", "GET"]) {
        const response = await fetch(`${closed.url}/plants`, { method, ...preflight(origin) });
        expect([response.status, corsHeaders(response.headers)]).toEqual([method === "GET" ? 401 : 405, {}]);
        expect(hasVary(response.headers)).toBe(false);
      }
    }
  });
});
