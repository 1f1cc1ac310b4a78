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

/** Everything that a storage can be asked, all at once. */
const askEverything = () => [
  storage.ping(),
  storage.selectPlants("ann", { limit: 9 }),
  storage.insertPlant("ann", { id: 100n, name: "Fern" }, "k"),
  storage.deletePlant("ann", 100n),
  storage.selectToken("aa"),
  storage.selectTokens(),
  storage.revokeToken("aa", 1),
  storage.recordTokenUses(new Map([["aa", 1]])),
  storage.insertFirstToken({ digest: "aa", owner: "ann", scopes: [], createdAt: 1 }),
];

/** Asks until the database is back: every failure on the way is `unavailable`. */
async function healed(): Promise<void> {
  for (;;) {
    const failure = await failureOf(storage.ping());
    if (failure === undefined) return;
    expect(failure).toMatchObject(UNAVAILABLE);
  }
}

/** Fills every connection of the pool, so that each of them is open when the harm is done. */
const warmUp = () =>
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

describe("PostgreSQL that is killed under load", () => {
  it(
    "loses nothing that was answered, and is used again when it is back",
    async () => {
      const answered: bigint[] = [];
      const removed = new Set<bigint>();
      const unknown = new Set<bigint>();
      let next = 0n;
      /** Creates a plant and removes every fifth, until an answer stays away. */
      const call = async () => {
        for (;;) {
          const id = next++;
          const outcome = await failureOf(storage.insertPlant("load", { id, name: `plant ${id}` }, `${id}`));
          if (outcome !== "inserted") return { id, outcome };
          if (answered.push(id) === 5_000) server.kill("SIGKILL");
          if (id % 5n !== 0n) continue;
          const deletion = await failureOf(storage.deletePlant("load", id));
          if (deletion !== true) return { id, outcome: deletion };
          removed.add(id);
        }
      };
      for (const { id, outcome } of await Promise.all(Array.from({ length: 64 }, call))) {
        expect(outcome).toMatchObject(UNAVAILABLE);
        unknown.add(id);
      }
      await server.restart();
      await healed();
      const kept = new Map(
        (await storage.selectPlants("load", { limit: 1_000_000 })).map(({ id, name }) => [id, name]),
      );
      for (const id of answered) {
        if (removed.has(id)) expect(kept.has(id)).toBe(false);
        else if (!unknown.has(id)) expect(kept.get(id)).toBe(`plant ${id}`);
      }
      const own = new Set([...answered, ...unknown]);
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

describe("PostgreSQL that freezes", () => {
  it(
    "is unavailable to every call, and back in use afterwards on new connections",
    async () => {
      await healed();
      await warmUp();
      const before = await backends();
      const thaw = await server.freeze();
      try {
        for (let round = 0; round < 2; round++) {
          for (const failure of await Promise.all(askEverything().map(failureOf))) {
            expect(failure).toMatchObject(UNAVAILABLE);
          }
        }
      } finally {
        thaw();
      }
      await healed();
      await Promise.all(askEverything());
      await warmUp();
      for (const pid of await backends()) expect(before).not.toContain(pid);
    },
    TIMEOUT_MS,
  );
});

describe("a connection to PostgreSQL that is lost", () => {
  it(
    "makes the writes on it unavailable, not done and not refused",
    async () => {
      await healed();
      await database.holding("LOCK TABLE plants IN SHARE MODE", async () => {
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
        // A write that was queued behind a lost one waits on the server until its own timeout.
        while ((await database.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")).length > 0);
      });
      await healed();
      expect(await storage.selectPlants("lost", { limit: 9 })).toEqual([]);
      expect(await storage.insertPlant("lost", { id: 1n, name: "Fern" }, undefined)).toBe("inserted");
    },
    TIMEOUT_MS,
  );

  it("after the server did a write, but before it said so, leaves the outcome unknown", async () => {
    await healed();
    const proxy = await startProxy(database.url);
    const cut = await openStorage({ engine: "postgres", url: proxy.url }, { forServer: true, poolSize: 2 });
    // The statement is prepared now: the next reply is that of the write itself.
    await cut.insertPlant("cut", { id: 1n, name: "Fern" }, undefined);
    await cut.deletePlant("cut", 2n);
    for (const work of [
      () => cut.insertPlant("cut", { id: 2n, name: "Fern" }, undefined),
      () => cut.deletePlant("cut", 1n),
    ]) {
      proxy.cutNextReply();
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

  it("while it was idle is not used again", async () => {
    await warmUp();
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plantstore'",
    );
    while ((await backends()).length > 0);
    await healed();
    await Promise.all(askEverything());
  });
});

describe("an address that takes connections and never says a word", () => {
  it("is no database, and told so in time", async () => {
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

describe("PostgreSQL that comes back as a standby", () => {
  it(
    "is unavailable, to reads too, until it is the primary again",
    async () => {
      await warmUp();
      server.kill("SIGINT");
      await server.restart({ asStandby: true });
      for (const failure of await Promise.all(askEverything().map(failureOf))) {
        expect(failure).toMatchObject(UNAVAILABLE);
      }
      await expect(openStorage({ engine: "postgres", url: database.url }, { forServer: true })).rejects.toThrow(
        "standby",
      );
      server.kill("SIGINT");
      await server.restart();
      await healed();
      expect(await storage.insertPlant("standby", { id: 1n, name: "Fern" }, undefined)).toBe("inserted");
    },
    TIMEOUT_MS,
  );
});
