import { afterAll, beforeAll, describe, expect, it, spyOn } from "bun:test";
import { AppError } from "../../../src/domain/error.ts";
import { BatchQueue } from "../../../src/storage/batch-queue.ts";
import { openStorage } from "../../../src/storage/open.ts";
import { splitByIds } from "../../../src/storage/postgres/writes.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { newPostgresDatabase, type PostgresDatabase } from "../../support/postgres.ts";
import { run } from "../../support/program.ts";
import { describeStorage } from "../contract.ts";

const TIMEOUT_MS = 30_000;
const SHARDS = [0, 1, 2, 3].map((n) => `shard_${n}`);
/** A stand-in for Citus: partitions the table by hash, so that primary keys must contain the distribution column. */
const DISTRIBUTOR = `
  CREATE TABLE distributed (name TEXT, by_column TEXT);
  CREATE FUNCTION create_reference_table(name TEXT) RETURNS void LANGUAGE sql
    AS 'INSERT INTO distributed VALUES (name, NULL)';
  CREATE FUNCTION create_distributed_table(name TEXT, by_column TEXT) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO distributed VALUES (name, by_column);
    EXECUTE format('ALTER TABLE %I RENAME TO original', name);
    EXECUTE format('CREATE TABLE %I (LIKE original INCLUDING ALL) PARTITION BY HASH (%I)', name, by_column);
    DROP TABLE original;
    ${SHARDS.map((shard, n) => `EXECUTE format('CREATE TABLE ${shard} PARTITION OF %I FOR VALUES WITH (MODULUS ${SHARDS.length}, REMAINDER ${n})', name);`).join("\n")}
  END $$;`;

const open = (url: string, queryTimeoutMs = 5_000): Promise<Storage> =>
  openStorage({ engine: "postgres", url }, { forServer: true, poolSize: 10, queryTimeoutMs });

/** Runs `use` with a new database and drops it afterwards. */
async function withDatabase(use: (database: PostgresDatabase) => Promise<void>): Promise<void> {
  const database = await newPostgresDatabase();
  try {
    await use(database);
  } finally {
    await database.drop();
  }
}

async function withStorage(use: (storage: Storage, database: PostgresDatabase) => Promise<void>, timeoutMs?: number) {
  await withDatabase(async (database) => {
    const storage = await open(database.url, timeoutMs);
    await use(storage, database);
    await storage.close();
  });
}

const tableNames = ({ query }: PostgresDatabase) =>
  query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
  );

/** Returns a statistics counter of the table `plants`, once it is not zero: PostgreSQL updates it after a connection closes. */
async function nonZeroCount({ query }: PostgresDatabase, counter: string): Promise<number> {
  const sql = `SELECT sum(${counter})::int AS count FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)
    WHERE t.relname = 'plants'`;
  for (;;) {
    const [row] = await query<{ count: number }>(sql);
    if (row !== undefined && row.count > 0) return row.count;
  }
}

describeStorage("PostgreSQL", async () => {
  const { url, drop } = await newPostgresDatabase();
  return { connect: () => open(url), remove: drop };
});

describeStorage("PostgreSQL with distributed tables", async () => {
  const { url, query, drop } = await newPostgresDatabase();
  await query(DISTRIBUTOR);
  return { connect: () => open(url), remove: drop };
});

describe("a plants table distributed by owner", () => {
  it("is accessed on one shard only by every statement", () =>
    withDatabase(async (database) => {
      await database.query(DISTRIBUTOR);
      const storage = await open(database.url);
      expect(await database.query("SELECT * FROM distributed ORDER BY name")).toEqual([
        { name: "plants", by_column: "owner" },
        { name: "plantstore_schema", by_column: null },
        { name: "tokens", by_column: null },
      ]);
      await storage.insertPlant("ann", { id: 1n, name: "Fern", tag: "x" }, "k");
      const [home] = await database.query<{ shard: string }>("SELECT tableoid::regclass::text AS shard FROM plants");
      const others = SHARDS.filter((shard) => shard !== home?.shard);
      await database.withLocks(`LOCK TABLE ${others.join(", ")} IN ACCESS EXCLUSIVE MODE`, async () => {
        expect(await storage.insertPlant("ann", { id: 1n, name: "Fern", tag: "x" }, "k")).toBe("repeated");
        expect(await storage.insertPlant("ann", { id: 1n, name: "Fern", tag: "x" }, "K")).toBe("taken");
        expect(await storage.insertPlant("ann", { id: 2n, name: "Iris" }, undefined)).toBe("inserted");
        expect(await storage.selectPlants("ann", { limit: 1 })).toHaveLength(1);
        expect(await storage.selectPlants("ann", { limit: 9, tag: "x", after: 0n })).toHaveLength(1);
        expect(await storage.selectStoredPlants({ owner: "ann", id: 1n }, 1)).toHaveLength(1);
        expect(await storage.deletePlant("ann", 2n)).toBe(true);
      });
      await storage.close();
    }));
});

describe("openStorage with a PostgreSQL database", () => {
  it("rejects a database without tables, and creates none, with mustExist", () =>
    withDatabase(async (database) => {
      const opening = openStorage({ engine: "postgres", url: database.url }, { forServer: false, mustExist: true });
      await expect(opening).rejects.toThrow(/has no tables of Plant Store: use/);
      expect(await tableNames(database)).toEqual([]);
    }));

  it("migrates the database once when ten processes open it concurrently", () =>
    withDatabase(async (database) => {
      const storages = await Promise.all(Array.from({ length: 10 }, () => open(database.url)));
      const plants = storages.map((_, n) => ({ id: BigInt(n), name: `plant ${n}` }));
      await Promise.all(
        storages.map((storage, n) => storage.insertPlant("ann", plants[n] ?? { id: 0n, name: "" }, "k")),
      );
      for (const storage of storages) expect(await storage.selectPlants("ann", { limit: 99 })).toStrictEqual(plants);
      expect(await database.query("SELECT version::int FROM plantstore_schema")).toEqual([{ version: 1 }]);
      await Promise.all(storages.map((storage) => storage.close()));
    }));

  it(
    "waits for the migration of another process, and creates no tables meanwhile",
    () =>
      withDatabase(async (database) => {
        await (await open(database.url)).close();
        await database.query("DROP TABLE plants, tokens; UPDATE plantstore_schema SET version = 0");
        const { opening } = await database.withLocks("SELECT version FROM plantstore_schema FOR UPDATE", async () => {
          const opening = open(database.url);
          let waiting: { pid: number }[] = [];
          while (waiting.length === 0) {
            waiting = await database.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'");
          }
          const exclusiveLocks =
            "SELECT relation FROM pg_locks WHERE locktype = 'relation' AND mode = 'AccessExclusiveLock'";
          expect(await database.query(exclusiveLocks)).toEqual([]);
          return { opening };
        });
        await (await opening).close();
        expect(await database.query("SELECT version::int FROM plantstore_schema")).toEqual([{ version: 1 }]);
      }),
    TIMEOUT_MS,
  );

  const rejected: [kind: string, reason: RegExp, change: string][] = [
    ["the schema of a newer version", /newer Plant Store.*999.*upgrade/, "UPDATE plantstore_schema SET version = 999"],
    ["the tables of another program", /table plants of another program/, "DROP TABLE plantstore_schema"],
    ["synchronous_commit off", /synchronous_commit is off/, "ALTER DATABASE current SET synchronous_commit = off"],
  ];
  for (const [kind, reason, change] of rejected) {
    it(`rejects and does not change a database with ${kind}`, () =>
      withDatabase(async (database) => {
        await (await open(database.url)).close();
        await database.query(change.replace("current", new URL(database.url).pathname.slice(1)));
        const before = await tableNames(database);
        for (const forServer of [true, false]) {
          await expect(openStorage({ engine: "postgres", url: database.url }, { forServer })).rejects.toThrow(reason);
        }
        expect(await tableNames(database)).toEqual(before);
      }));
  }

  it("requires no privilege to create tables when they exist", () =>
    withDatabase(async (database) => {
      await (await open(database.url)).close();
      const role = new URL(database.url).pathname.slice(1);
      await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT SELECT ON plantstore_schema TO ${role};
        GRANT SELECT, INSERT, DELETE ON plants TO ${role}; GRANT SELECT, INSERT, UPDATE ON tokens TO ${role}`);
      const url = new URL(database.url);
      [url.username, url.password] = [role, "p"];
      const storage = await open(url.href);
      expect(await storage.insertPlant("ann", { id: 1n, name: "Fern" }, undefined)).toBe("inserted");
      expect(await storage.deletePlant("ann", 1n)).toBe(true);
      await storage.close();
      await database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }));

  it("fails with one line that does not contain the password", async () => {
    const urls = ["postgres://ann:s3cret@127.0.0.1:1/plants", "postgres://127.0.0.1:1/plants?password=s3cret"];
    const noUrls = [
      "127.0.0.1:1",
      "127.0.0.1:x/plants",
      "a.internal,b.internal/plants",
      "127.0.0.1:1,127.0.0.1:2/plants",
    ];
    for (const url of [...urls, ...noUrls.map((address) => `postgres://ann:s3cret@${address}`)]) {
      for (const args of [["serve"], ["token", "list"]]) {
        const { exitCode, stdout, stderr } = await run(args, { env: { PLANTSTORE_DATABASE: url } });
        expect({ isFailure: exitCode === (urls.includes(url) ? 1 : 2), stdout }).toEqual({
          isFailure: true,
          stdout: "",
        });
        expect(stderr).toMatch(/^plantstore: .+\n$/);
        expect(stderr).not.toContain("s3cret");
      }
    }
  });
});

describe("the statements on PostgreSQL", () => {
  it("read few rows even if the table statistics are outdated", () =>
    withDatabase(async (database) => {
      await (await open(database.url)).close();
      await database.query("ALTER TABLE plants SET (autovacuum_enabled = false)");
      await database.query("VACUUM ANALYZE plants");
      const storage = await open(database.url);
      const useAll = async (n: bigint) => {
        await storage.deletePlant("ann", -n);
        expect(await storage.insertPlant("ann", { id: -n, name: "Fern" }, "k")).toBe("inserted");
        expect(await storage.insertPlant("ann", { id: -n, name: "Fern" }, "k")).toBe("repeated");
        expect(await storage.selectPlants("ann", { limit: 10, after: -n - 1n })).not.toBeEmpty();
        await storage.selectPlants("ann", { limit: 10, tag: "even" });
        await storage.selectStoredPlants({ owner: "ann", id: -n - 1n }, 10);
        await storage.selectStoredPlants(undefined, 10);
        expect(await storage.deletePlant("ann", -n)).toBe(true);
      };
      // The server plans the statements while the table is empty.
      for (let n = 1n; n <= 10n; n++) await useAll(n);
      await database.query(
        "INSERT INTO plants SELECT 'ann', n, 'Fern', CASE n % 2 WHEN 0 THEN 'even' END FROM generate_series(1, 20000) n",
      );
      for (let n = 1n; n <= 20n; n++) await useAll(n);
      await storage.close();
      expect(await nonZeroCount(database, "seq_tup_read + idx_tup_read")).toBeLessThan(2_000);
    }));
});

describe("concurrent lists", () => {
  it("share one statement when they are identical, and return a separate array to each caller", () =>
    withDatabase(async (database) => {
      const storage = await open(database.url);
      await database.query("INSERT INTO plants VALUES ('ann', 1, 'Fern')");
      const lists = Array.from({ length: 20 }, () => storage.selectPlants("ann", { limit: 9 }));
      for (const list of await Promise.all(lists)) expect(list.splice(0)).toEqual([{ id: 1n, name: "Fern" }]);
      await storage.close();
      expect(await nonZeroCount(database, "i.idx_scan")).toBe(1);
    }));

  it("are distinguished by owner, range and tag", () =>
    withStorage(async (storage) => {
      const plants = [
        { owner: "ann", plant: { id: 1n, name: "Fern", tag: "" } },
        { owner: "ann1", plant: { id: 1n, name: "Iris", tag: "1" } },
        { owner: "ann", plant: { id: 11n, name: "Sage" } },
      ];
      for (const { owner, plant } of plants) await storage.insertPlant(owner, plant, undefined);
      const lists = await Promise.all([
        storage.selectPlants("ann", { limit: 11 }),
        storage.selectPlants("ann1", { limit: 1, after: 0n }),
        storage.selectPlants("ann", { limit: 1 }),
        storage.selectPlants("ann", { limit: 1, after: 10n }),
        storage.selectPlants("ann", { limit: 11, tag: "" }),
        storage.selectPlants("ann1", { limit: 1, tag: "1" }),
      ]);
      expect(lists.map((list) => list.map(({ name }) => name))).toEqual([
        ["Fern", "Sage"],
        ["Iris"],
        ["Fern"],
        ["Sage"],
        ["Fern"],
        ["Iris"],
      ]);
    }));

  it("contain every write acknowledged before the call", () =>
    withStorage(async (storage, { query }) => {
      await query("INSERT INTO plants SELECT 'ann', n, repeat('n', 500) FROM generate_series(1, 20000) n");
      for (let n = 1n; n <= 10n; n++) {
        const early = storage.selectPlants("ann", { limit: 30_000 });
        await storage.insertPlant("ann", { id: -n, name: "Fern" }, undefined);
        const [first] = await storage.selectPlants("ann", { limit: 30_000 });
        expect(first?.id).toBe(-n);
        await early;
      }
    }));
});

describe("PostgreSQL while another session holds a lock", () => {
  it("rejects a write after the query timeout, changes nothing, and keeps its connection", () =>
    withStorage(async (storage, { withLocks, query }) => {
      await storage.insertPlant("ann", { id: 1n, name: "Fern" }, undefined);
      const backends = () =>
        query("SELECT pid FROM pg_stat_activity WHERE application_name = 'plantstore' ORDER BY pid");
      await storage.ping();
      const before = await backends();
      await withLocks("LOCK TABLE plants IN SHARE MODE", async () => {
        const failure = await storage.insertPlant("ann", { id: 2n, name: "Iris" }, "k").catch((error) => error);
        expect(failure).toMatchObject({ name: "AppError", code: "unavailable" });
      });
      expect(await storage.insertPlant("ann", { id: 2n, name: "Iris" }, "k")).toBe("inserted");
      expect(await backends()).toEqual(before);
    }, 500));

  it("serves reads while writes wait", () =>
    withStorage(async (storage, { withLocks }) => {
      const kept = { id: 1n, name: "Fern" };
      await storage.insertPlant("ann", kept, undefined);
      const blocked = await withLocks("LOCK TABLE plants IN SHARE MODE", async () => {
        const writes = Array.from({ length: 20 }, (_, n) => storage.insertPlant(`owner ${n}`, kept, undefined));
        for (let n = 0; n < 100; n++) expect(await storage.selectPlants("ann", { limit: 9 })).toStrictEqual([kept]);
        return { writes };
      });
      expect(new Set(await Promise.all(blocked.writes))).toEqual(new Set(["inserted"]));
    }));

  it(
    "rejects writes immediately when the queue is full, and completes the others",
    () =>
      withStorage(async (storage, { withLocks }) => {
        const plants = Array.from({ length: 4_096 + 4 * 256 + 500 }, (_, n) => ({ id: BigInt(n), name: "Fern" }));
        const rejected = new Set<bigint>();
        const { writes } = await withLocks("LOCK TABLE plants IN SHARE MODE", async () => {
          const writes = plants.map((plant) =>
            storage.insertPlant("ann", plant, undefined).catch((error: AppError) => {
              expect(error).toBeInstanceOf(AppError);
              expect(error.code).toBe("unavailable");
              rejected.add(plant.id);
            }),
          );
          await storage.ping();
          expect(rejected.size).toBeGreaterThanOrEqual(500);
          return { writes };
        });
        await Promise.all(writes);
        const accepted = plants.filter(({ id }) => !rejected.has(id));
        expect(await storage.selectPlants("ann", { limit: 9_999 })).toStrictEqual(accepted);
      }, 20_000),
    TIMEOUT_MS,
  );
});

describe("a batch of writes", () => {
  let database: PostgresDatabase;
  let storage: Storage;
  beforeAll(async () => {
    database = await newPostgresDatabase();
    storage = await open(database.url);
    await database.query(`CREATE SEQUENCE attempts; CREATE SEQUENCE inserts START 0 MINVALUE 0;
      CREATE FUNCTION inject_fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('inserts');
        IF NEW.name = 'Hemlock' THEN RAISE EXCEPTION 'no'; END IF;
        IF NEW.name = 'Lost' THEN RAISE EXCEPTION 'worker' USING ERRCODE = '08006'; END IF;
        IF NEW.name = 'Nettle' THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;
        IF NEW.name = 'Sage' AND nextval('attempts') < 4 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40P01'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER inject_fault BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION inject_fault();`);
  });
  afterAll(async () => {
    await storage.close();
    await database.drop();
  });

  it("fails completely when one write fails, changes nothing, and does not affect other owners", async () => {
    const [iris, hemlock, other] = await Promise.allSettled([
      storage.insertPlant("ann", { id: 2n, name: "Iris" }, undefined),
      storage.insertPlant("ann", { id: 3n, name: "Hemlock" }, undefined),
      storage.insertPlant("bob", { id: 4n, name: "Iris" }, undefined),
    ]);
    for (const result of [iris, hemlock]) {
      expect(result).toMatchObject({ status: "rejected", reason: { name: "AppError", code: "internal" } });
    }
    expect(other).toEqual({ status: "fulfilled", value: "inserted" });
    expect(await storage.selectPlants("ann", { limit: 9 })).toEqual([]);
  });

  it("is retried after a deadlock or a serialization failure, and fails after a limited number of attempts", async () => {
    expect(await storage.insertPlant("ann", { id: 5n, name: "Sage" }, undefined)).toBe("inserted");
    const failure = await storage.insertPlant("ann", { id: 6n, name: "Nettle" }, undefined).catch((error) => error);
    expect(failure).toMatchObject({ name: "AppError", code: "unavailable" });
  });

  it("fails with unavailable, and keeps its connection, when the server returns a connection error", async () => {
    await storage.insertPlant("fay", { id: 1n, name: "Fern" }, undefined);
    const backends = () =>
      database.query("SELECT pid FROM pg_stat_activity WHERE application_name = 'plantstore' ORDER BY pid");
    const before = await backends();
    const failure = await storage.insertPlant("fay", { id: 2n, name: "Lost" }, undefined).catch((error) => error);
    expect(failure).toMatchObject({ name: "AppError", code: "unavailable" });
    expect(await storage.insertPlant("fay", { id: 2n, name: "Fern" }, undefined)).toBe("inserted");
    expect(await backends()).toEqual(before);
  });

  it("is sent again when an id is taken, but later batches of the next minute are sent once", async () => {
    const insertsOf = async (id: bigint) => {
      const inserts = async () => {
        const [row] = await database.query<{ count: number }>("SELECT last_value::int AS count FROM inserts");
        return Number(row?.count);
      };
      const before = await inserts();
      return [await storage.insertPlant("dan", { id, name: "Basil" }, undefined), (await inserts()) - before];
    };
    expect(await insertsOf(1n)).toEqual(["inserted", 1]);
    expect(await insertsOf(1n)).toEqual(["taken", 2]);
    expect(await insertsOf(1n)).toEqual(["taken", 1]);
    const nowMs = performance.now();
    const clock = spyOn(performance, "now");
    try {
      clock.mockReturnValue(nowMs + 30_000);
      expect(await insertsOf(1n)).toEqual(["taken", 1]);
      expect(await insertsOf(2n)).toEqual(["inserted", 1]);
      clock.mockReturnValue(nowMs + 60_000);
      expect(await insertsOf(1n)).toEqual(["taken", 2]);
      expect(await insertsOf(3n)).toEqual(["inserted", 1]);
      clock.mockReturnValue(nowMs + 120_000);
      expect(await insertsOf(4n)).toEqual(["inserted", 1]);
    } finally {
      clock.mockRestore();
    }
  });

  it("returns the result of each write when one id is taken", () =>
    withStorage(async (storage) => {
      const insert = (id: bigint, key?: string) => storage.insertPlant("ann", { id, name: "Fern" }, key);
      await insert(1n, "k");
      await insert(2n);
      const batch = [insert(4n), insert(1n, "k"), insert(3n, "l"), insert(2n, "k")];
      expect(await Promise.all(batch)).toEqual(["inserted", "repeated", "inserted", "taken"]);
      expect((await storage.selectPlants("ann", { limit: 9 })).map(({ id }) => id)).toEqual([1n, 2n, 3n, 4n]);
    }));

  it("does not affect other statements on its connection when an id is taken", () =>
    withDatabase(async (database) => {
      const storage = await openStorage(
        { engine: "postgres", url: database.url },
        { forServer: true, poolSize: 2, queryTimeoutMs: 5_000 },
      );
      const plant = { id: 1n, name: "Fern" };
      for (const owner of ["ann", "bob"]) await storage.insertPlant(owner, plant, undefined);
      const writes = [storage.insertPlant("ann", plant, undefined), storage.deletePlant("bob", 1n)];
      expect(await Promise.all<unknown>(writes)).toEqual(["taken", true]);
      expect(await storage.insertPlant("bob", plant, undefined)).toBe("inserted");
      await storage.close();
    }));

  it("returns the result of each of 4,000 concurrent writes", async () => {
    const ids = Array.from({ length: 4_000 }, (_, n) => BigInt(n));
    const insert = (name: string) => ids.map((id) => storage.insertPlant("eve", { id, name }, `key ${id}`));
    expect(new Set(await Promise.all(insert("Fern")))).toEqual(new Set(["inserted"]));
    expect(new Set(await Promise.all(insert("Fern")))).toEqual(new Set(["repeated"]));
    expect(new Set(await Promise.all(insert("Iris")))).toEqual(new Set(["taken"]));
  });
});

describe("the batches of many writes", () => {
  it("have sizes that are powers of two, and contain each write once, those of one id in order", async () => {
    const batches: number[][] = [];
    const queue = new BatchQueue<{ owner: string; id: bigint; turn: number }, number>({
      description: "writes are queued",
      maxBatch: 256,
      maxBatches: 2,
      timeoutMs: TIMEOUT_MS,
      keyOf: ({ owner }) => owner,
      split: splitByIds,
      send: async (writes) => {
        batches.push(writes.map(({ turn }) => turn));
        return writes.map(({ turn }) => turn);
      },
    });
    const turns = Array.from({ length: 1_000 }, (_, turn) => turn);
    const idOf = (turn: number) => (turn * turn) % 199;
    const run = (turn: number) => queue.add({ owner: "ann", id: BigInt(idOf(turn)), turn });
    expect(await Promise.all(turns.map(run))).toEqual(turns);
    expect(batches.map(({ length }) => length).filter((length) => !Number.isInteger(Math.log2(length)))).toEqual([]);
    for (let id = 0; id < 199; id++) {
      const ofId = batches.flat().filter((turn) => idOf(turn) === id);
      expect(ofId).toEqual(turns.filter((turn) => idOf(turn) === id));
    }
  });
});

describe("many concurrent token lookups", () => {
  it("have one statement in flight, and find the existing tokens", () =>
    withStorage(async (storage, database) => {
      await storage.insertToken({ digest: "good", owner: "ann", scopes: [], createdAt: 1 });
      const list = (_?: unknown, n = 0) => storage.selectPlants("ann", { limit: n + 1 });
      const connections = () =>
        database.query(
          "SELECT pid FROM pg_stat_activity WHERE application_name = 'plantstore' AND query LIKE '%plants%'",
        );
      while ((await connections()).length < 2) await Promise.all(Array.from({ length: 100 }, list));
      const waiting = () =>
        database.query("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%tokens%'");
      const lookups = await database.withLocks("LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE", async () => {
        const pending = Array.from({ length: 500 }, (_, n) => storage.selectToken(n % 5 === 0 ? "good" : `bad ${n}`));
        while ((await waiting()).length === 0);
        // Meanwhile other reads complete, and no second lookup is sent.
        expect(await list()).toEqual([]);
        expect(await waiting()).toHaveLength(1);
        return pending;
      });
      const owners = (await Promise.all(lookups)).map((token) => token?.owner);
      expect(owners).toEqual(Array.from({ length: 500 }, (_, n) => (n % 5 === 0 ? "ann" : undefined)));
    }));
});
