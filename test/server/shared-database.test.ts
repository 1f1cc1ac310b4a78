import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { newPostgresDatabase, type PostgresDatabase } from "../support/postgres.ts";
import { run, type ServerProcess, startServerProcess } from "../support/program.ts";

const TIMEOUT_MS = 60_000;

let database: PostgresDatabase;
let replicas: ServerProcess[];
let env: Record<string, string>;
let token: string;
beforeAll(async () => {
  database = await newPostgresDatabase();
  env = { PLANTSTORE_DATABASE: database.url };
  replicas = await Promise.all([1, 2, 3].map(() => startServerProcess(["--drain", "0s"], env)));
  while (printedTokens().length === 0) await fetch(`${replicas[0]?.url}/livez`);
  token = (await run(["token", "create", "--owner", "ann"], { env })).stdout.trim();
}, TIMEOUT_MS);
afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await database.drop();
});

const printedTokens = () => replicas.flatMap((replica) => replica.stdout().match(/plt_\w{36}$/m) ?? []);

const call = (replica: ServerProcess | undefined, path: string, init: RequestInit = {}) =>
  fetch(`${replica?.url}${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...init.headers },
  });

describe("three servers on one PostgreSQL database", () => {
  it("print one first token, which all accept", async () => {
    expect(printedTokens()).toHaveLength(1);
    for (const { url } of replicas) {
      const response = await fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${printedTokens()[0]}` } });
      expect(response.status).toBe(200);
    }
  });

  it("reflect each create and delete once it is acknowledged", async () => {
    for (let n = 0; n < 30; n++) {
      const [one, ...others] = [...replicas.slice(n % 3), ...replicas.slice(0, n % 3)];
      const body = JSON.stringify({ id: n, name: `plant ${n}` });
      expect((await call(one, "/plants", { method: "POST", body })).status).toBe(200);
      for (const other of others) {
        expect((await call(other, "/plants", { method: "POST", body })).status).toBe(400);
        expect(await (await call(other, "/plants")).json()).toEqual([{ name: `plant ${n}` }]);
      }
      expect((await call(others[0], `/plants/${n}`, { method: "DELETE" })).status).toBe(204);
      for (const each of replicas) {
        expect((await call(each, `/plants/${n}`, { method: "DELETE" })).status).toBe(404);
        expect(await (await call(each, "/plants")).json()).toEqual([]);
      }
    }
  });

  it("return the original response when an idempotency key is reused on another server", async () => {
    for (const first of replicas) {
      const body = JSON.stringify({ id: 7, name: "Fern" });
      const create = (replica: ServerProcess, key: string) =>
        call(replica, "/plants", { method: "POST", body, headers: { "Idempotency-Key": key } });
      expect((await create(first, "one")).status).toBe(200);
      for (const each of replicas) {
        expect((await create(each, "one")).status).toBe(200);
        expect((await create(each, "other")).status).toBe(400);
      }
      expect((await call(first, "/plants/7", { method: "DELETE" })).status).toBe(204);
    }
  });

  it("accept exactly one of three concurrent creates of an id, and one of three deletes", async () => {
    for (let id = 100; id < 150; id++) {
      const creates = replicas.map(async (replica, n) => {
        const body = JSON.stringify({ id, name: `of ${n}` });
        return (await call(replica, "/plants", { method: "POST", body })).status;
      });
      const statuses = await Promise.all(creates);
      expect(statuses.toSorted()).toEqual([200, 400, 400]);
      const expected = [{ name: `of ${statuses.indexOf(200)}` }];
      for (const replica of replicas) expect(await (await call(replica, "/plants")).json()).toEqual(expected);
      const deletes = replicas.map(async (each) => (await call(each, `/plants/${id}`, { method: "DELETE" })).status);
      expect((await Promise.all(deletes)).toSorted()).toEqual([204, 404, 404]);
    }
  });

  it("reject a token within one second after another process revoked it", async () => {
    const revoked = (await run(["token", "create", "--owner", "bob"], { env })).stdout.trim();
    const statuses = () =>
      Promise.all(
        replicas.map(async ({ url }) => {
          const response = await fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${revoked}` } });
          return response.status;
        }),
      );
    expect(await statuses()).toEqual([200, 200, 200]);
    expect((await run(["token", "revoke", revoked], { env })).exitCode).toBe(0);
    const endMs = performance.now() + 1_000;
    let seen = await statuses();
    while (seen.includes(200) && performance.now() < endMs) seen = await statuses();
    expect(seen).toEqual([401, 401, 401]);
  });

  it("are ready, and print no password", async () => {
    const { host, password } = new URL(database.url);
    for (const replica of replicas) {
      expect((await fetch(`${replica.url}/readyz`)).status).toBe(200);
      const printed = replica.stdout() + JSON.stringify(replica.log());
      expect(printed).toContain(host);
      for (const secret of [`@${host}`, `:${password}`, `:${decodeURIComponent(password)}@`]) {
        expect(printed).not.toContain(secret);
      }
    }
  });
});
