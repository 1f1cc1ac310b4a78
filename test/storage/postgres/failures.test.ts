import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { type AddressInfo, createServer } from "node:net";
import { openStorage } from "../../../src/storage/open.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type PostgresDatabase, type PostgresServer, startPostgres } from "../../support/postgres.ts";
import { startProxy } from "../../support/proxy.ts";

const TIMEOUT_MS = 60_000;
const QUERY_TIMEOUT_MS = 1_000;
const UNAVAILABLE = { name: "AppError", code: "unavailable" };

let server: PostgresServer;
let database: PostgresDatabase;
let storage: Storage;
beforeAll(async () => {
  server = await startPostgres();
  database = await server.newDatabase();
  storage = await openStorage(
    { engine: "postgres", url: database.url },
    { forServer: true, poolSize: 10, queryTimeoutMs: QUERY_TIMEOUT_MS },
  );
}, TIMEOUT_MS);
afterAll(async () => {
  await storage.close();
  await server.stop();
});

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error) => error,
  );

/** Calls all methods of the storage concurrently. */
const callAll = () => [
  storage.ping(),
  storage.selectPlants("ann", { limit: 9 }),
  storage.insertPlant("ann", { id: 100n, name: "Fern" }, "k"),
  storage.deletePlant("ann", 100n),
  storage.selectToken("aa"),
  storage.selectTokens(),
  storage.revokeToken("aa", 1),
  storage.recordLastUses(new Map([["aa", 1]])),
  storage.insertFirstToken({ digest: "aa", owner: "ann", scopes: [], createdAt: 1 }),
];

/** Resolves when the database is available. Until then, every failure must be `unavailable`. */
async function available(): Promise<void> {
  for (;;) {
    const failure = await failureOf(storage.ping());
    if (failure === undefined) return;
    expect(failure).toMatchObject(UNAVAILABLE);
  }
}

/** Opens all connections of the pool. */
const openAllConnections = () =>
  Promise.all(
    Array.from({ length: 200 }, (_, n) => [
      storage.selectPlants(`owner ${n}`, { limit: 1 }),
      storage.insertPlant(`owner ${n}`, { id: 1n, name: "Fern" }, "k"),
    ]).flat(),
  );

const backends = async () => {
  const rows = await database.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'plantstore' AND datname = current_database()",
  );
  return rows.map(({ pid }) => pid);
};

describe("a storage whose PostgreSQL is killed under load", () => {
  it(
    "loses no acknowledged write, and recovers when PostgreSQL restarts",
    async () => {
      const acknowledged: bigint[] = [];
      const removed = new Set<bigint>();
      const unknown = new Set<bigint>();
      let next = 0n;
      /** Creates plants and deletes every fifth one, until a write fails. */
      const writeUntilFailure = async () => {
        for (;;) {
          const id = next++;
          const outcome = await failureOf(storage.insertPlant("load", { id, name: `plant ${id}` }, `${id}`));
          if (outcome !== "inserted") return { id, outcome };
          if (acknowledged.push(id) === 5_000) server.kill("SIGKILL");
          if (id % 5n !== 0n) continue;
          const deletion = await failureOf(storage.deletePlant("load", id));
          if (deletion !== true) return { id, outcome: deletion };
          removed.add(id);
        }
      };
      for (const { id, outcome } of await Promise.all(Array.from({ length: 64 }, writeUntilFailure))) {
        expect(outcome).toMatchObject(UNAVAILABLE);
        unknown.add(id);
      }
      await server.restart();
      await available();
      const kept = new Map(
        (await storage.selectPlants("load", { limit: 1_000_000 })).map(({ id, name }) => [id, name]),
      );
      for (const id of acknowledged) {
        if (removed.has(id)) expect(kept.has(id)).toBe(false);
        else if (!unknown.has(id)) expect(kept.get(id)).toBe(`plant ${id}`);
      }
      const own = new Set([...acknowledged, ...unknown]);
      expect([...kept.keys()].filter((id) => !own.has(id))).toEqual([]);
      for (const id of unknown) {
        const isThere = kept.has(id);
        const outcome = await storage.insertPlant("load", { id, name: `plant ${id}` }, `${id}`);
        expect(outcome).toBe(isThere ? "repeated" : "inserted");
      }
    },
    TIMEOUT_MS,
  );
});

describe("a storage whose PostgreSQL is suspended", () => {
  it(
    "fails every call with unavailable, and later recovers with new connections",
    async () => {
      await available();
      await openAllConnections();
      const before = await backends();
      const resume = await server.suspend();
      try {
        for (let round = 0; round < 2; round++) {
          for (const failure of await Promise.all(callAll().map(failureOf))) {
            expect(failure).toMatchObject(UNAVAILABLE);
          }
        }
      } finally {
        resume();
      }
      await available();
      await Promise.all(callAll());
      await openAllConnections();
      for (const pid of await backends()) expect(before).not.toContain(pid);
    },
    TIMEOUT_MS,
  );
});

describe("a lost connection to PostgreSQL", () => {
  it(
    "fails its writes with unavailable when they were not executed",
    async () => {
      await available();
      await database.withLocks("LOCK TABLE plants IN SHARE MODE", async () => {
        const writes = [
          storage.insertPlant("lost", { id: 1n, name: "Fern" }, undefined),
          storage.insertPlant("lost", { id: 1n, name: "Fern" }, "k"),
          storage.deletePlant("lost", 1n),
        ].map(failureOf);
        let waiting: unknown[] = [];
        while (waiting.length === 0) {
          waiting = await database.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
        }
        await database.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plantstore'",
        );
        for (const outcome of await Promise.all(writes)) expect(outcome).toMatchObject(UNAVAILABLE);
        // A write that was pipelined after a lost one waits on the server until its own timeout.
        while ((await database.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0);
      });
      await available();
      expect(await storage.selectPlants("lost", { limit: 9 })).toEqual([]);
      expect(await storage.insertPlant("lost", { id: 1n, name: "Fern" }, undefined)).toBe("inserted");
    },
    TIMEOUT_MS,
  );

  it("fails a write with unavailable when it was executed but the reply was lost", async () => {
    await available();
    const proxy = await startProxy(database.url);
    const cut = await openStorage({ engine: "postgres", url: proxy.url }, { forServer: true, poolSize: 2 });
    // These calls prepare the statements, so that the next reply is that of the write.
    await cut.insertPlant("cut", { id: 1n, name: "Fern" }, undefined);
    await cut.deletePlant("cut", 2n);
    for (const work of [
      () => cut.insertPlant("cut", { id: 2n, name: "Fern" }, undefined),
      () => cut.deletePlant("cut", 1n),
    ]) {
      proxy.dropNextReply();
      expect(await failureOf(work())).toMatchObject(UNAVAILABLE);
      expect(await failureOf(cut.insertPlant("cut", { id: 9n, name: "Fern" }, "k"))).toBeOneOf([
        "inserted",
        "repeated",
      ]);
      await cut.deletePlant("cut", 9n);
    }
    expect((await storage.selectPlants("cut", { limit: 9 })).map(({ id }) => id)).toEqual([2n]);
    await cut.close();
    proxy.stop();
  });

  it("is not reused when it was idle", async () => {
    await openAllConnections();
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plantstore'",
    );
    while ((await backends()).length > 0);
    await available();
    await Promise.all(callAll());
  });
});

describe("a server that accepts connections and never responds", () => {
  it("is rejected at startup after the query timeout", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const opening = openStorage(
      { engine: "postgres", url: `postgres://127.0.0.1:${port}/plants` },
      { forServer: true, queryTimeoutMs: 500 },
    );
    await expect(opening).rejects.toThrow("did not respond");
    silent.close();
  });
});

describe("a storage whose PostgreSQL restarts as a standby", () => {
  it(
    "fails all calls with unavailable, reads too, until the server is a primary again",
    async () => {
      await openAllConnections();
      server.kill("SIGINT");
      await server.restart({ asStandby: true });
      for (const failure of await Promise.all(callAll().map(failureOf))) {
        expect(failure).toMatchObject(UNAVAILABLE);
      }
      await expect(openStorage({ engine: "postgres", url: database.url }, { forServer: true })).rejects.toThrow(
        "standby",
      );
      server.kill("SIGINT");
      await server.restart();
      await available();
      expect(await storage.insertPlant("standby", { id: 1n, name: "Fern" }, undefined)).toBe("inserted");
    },
    TIMEOUT_MS,
  );
});
