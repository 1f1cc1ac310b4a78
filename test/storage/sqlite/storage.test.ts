import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it } from "bun:test";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../../src/domain/error.ts";
import type { Plant } from "../../../src/domain/plant.ts";
import { openStorage } from "../../../src/storage/open.ts";
import { connect, makeDurable } from "../../../src/storage/sqlite/connection.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { run, startServerProcess } from "../../support/program.ts";
import { newOwner, temporaryFolder } from "../../support/service.ts";
import { describeStorage } from "../contract.ts";

const TIMEOUT_MS = 60_000;
const folder = temporaryFolder();
afterAll(() => folder.remove());

let files = 0;
const newPath = (): string => join(folder.path, `${++files}`, "plants.db");
const open = (path: string, forServer = false): Promise<Storage> =>
  openStorage({ engine: "sqlite", file: path }, { forServer });

describeStorage("SQLite", async () => {
  const path = newPath();
  return { connect: () => open(path), remove: async () => {} };
});

/** Creates and closes a database, then runs `change` on it, as another program might. */
async function newDatabase(change: (db: Database) => void = () => {}): Promise<string> {
  const path = newPath();
  await (await open(path)).close();
  const db = new Database(path);
  change(db);
  db.close();
  return path;
}

/** Runs `use` with a storage and a second connection to its file, as of another process. */
async function withSecondConnection(use: (storage: Storage, other: Database) => Promise<void>): Promise<void> {
  const path = newPath();
  const storage = await open(path, true);
  const other = new Database(path);
  try {
    await use(storage, other);
  } finally {
    other.close();
    await storage.close();
  }
}

describe("openStorage with an unsuitable SQLite file", () => {
  const cases: [kind: string, reason: RegExp, make: () => Promise<string>][] = [
    [
      "the schema of a newer version",
      /newer Plant Store.*999.*upgrade/,
      () => newDatabase((db) => db.run("PRAGMA user_version = 999")),
    ],
    [
      "the application_id of another program",
      /another program/,
      () => newDatabase((db) => db.run("PRAGMA application_id = 7")),
    ],
    ["tables but no application_id", /another program/, () => newDatabase((db) => db.run("PRAGMA application_id = 0"))],
    [
      "text instead of a database",
      /not a database/,
      async () => writeTo(await newDatabase(), "Dear diary\n".repeat(1_000)),
    ],
  ];
  const writeTo = (path: string, text: string): string => {
    writeFileSync(path, text);
    return path;
  };

  for (const [kind, reason, make] of cases) {
    for (const forServer of [true, false]) {
      it(`rejects and does not change a file with ${kind}${forServer ? ", for a server" : ""}`, async () => {
        const path = await make();
        const bytes = readFileSync(path);
        const names = readdirSync(dirname(path));
        const failure = await open(path, forServer).catch((error: Error) => error);
        expect(failure).toBeInstanceOf(Error);
        expect((failure as Error).message).toMatch(reason);
        expect((failure as Error).message).toContain(path);
        expect(readFileSync(path).equals(bytes)).toBe(true);
        expect(readdirSync(dirname(path)).filter((name) => !name.endsWith(".server-lock"))).toEqual(names);
      });
    }
  }

  it("releases the server lock after it rejected a file", async () => {
    const path = await newDatabase((db) => db.run("PRAGMA user_version = 999"));
    await expect(open(path, true)).rejects.toThrow("newer");
    const db = new Database(path);
    db.run("PRAGMA user_version = 1");
    db.close();
    await (await open(path, true)).close();
  });

  it("fails commands with one line on standard error", async () => {
    const path = await newDatabase((db) => db.run("PRAGMA user_version = 999"));
    for (const args of [
      ["serve", "--port", "0", "--admin-port", "off"],
      ["token", "list"],
    ]) {
      const { exitCode, stdout, stderr } = await run([...args, "--database", `sqlite:${path}`]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^plantstore: .*newer Plant Store.*\n$/);
    }
  });
});

describe("SQLite durability", () => {
  it("is rejected for a database that does not support a WAL", () => {
    const db = new Database(":memory:");
    expect(() => makeDurable(db)).toThrow("cannot be made durable");
    db.close();
  });

  it("uses a WAL that is synced at every commit", async () => {
    const path = await newDatabase();
    const fresh = new Database(path);
    expect(fresh.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    fresh.close();
    const db = connect(path);
    makeDurable(db);
    expect(db.query("PRAGMA synchronous").get()).toEqual({ synchronous: 2n });
    db.close();
  });

  it("leaves only the database file when the storage is closed", async () => {
    const path = newPath();
    const storage = await open(path);
    await storage.insertPlant("ann", { id: 1n, name: "Fern" }, undefined);
    expect(readFileSync(`${path}-wal`).length).toBeGreaterThan(0);
    await storage.close();
    expect(readdirSync(dirname(path))).toEqual(["plants.db"]);
    const fresh = new Database(path);
    fresh.run("BEGIN EXCLUSIVE");
    fresh.close();
  });
});

describe("a server on a SQLite file", () => {
  it("excludes a second server but not commands", async () => {
    const path = newPath();
    const server = await open(path, true);
    await expect(open(path, true)).rejects.toThrow(`another server is running on ${path}`);
    const command = await open(path);
    await command.insertPlant("ann", { id: 1n, name: "Fern" }, undefined);
    expect(await server.selectPlants("ann", { limit: 9 })).toStrictEqual([{ id: 1n, name: "Fern" }]);
    await command.close();
    await expect(open(path, true)).rejects.toThrow("another server");
    await server.close();
    await (await open(path, true)).close();
  });

  it("excludes a second server that uses a symbolic link", async () => {
    const path = newPath();
    const storage = await open(path, true);
    const alias = join(dirname(path), "alias.db");
    symlinkSync(path, alias);
    expect((await open(alias, true).catch(String)).toString()).toMatch(/another server is running/);
    await storage.close();
  });

  it(
    "releases the file when its process is killed",
    async () => {
      const path = newPath();
      const server = await startServerProcess(["--database", `sqlite:${path}`]);
      await expect(open(path, true)).rejects.toThrow("another server");
      await server.stop("SIGKILL");
      await (await open(path, true)).close();
    },
    TIMEOUT_MS,
  );
});

describe("SQLite while another process holds the write lock", () => {
  it(
    "rejects a write after the busy timeout, and changes nothing",
    () =>
      withSecondConnection(async (storage, other) => {
        other.run("BEGIN IMMEDIATE");
        const failure = await storage
          .insertPlant("ann", { id: 1n, name: "Fern" }, "k")
          .catch((error: AppError) => error);
        other.run("ROLLBACK");
        expect(failure).toMatchObject({ name: "AppError", code: "unavailable" });
        expect(await storage.selectPlants("ann", { limit: 9 })).toEqual([]);
        expect(await storage.insertPlant("ann", { id: 1n, name: "Fern" }, "k")).toBe("inserted");
      }),
    TIMEOUT_MS,
  );

  it(
    "serves reads while writes wait",
    () =>
      withSecondConnection(async (storage, other) => {
        const owner = newOwner();
        const kept = { id: 1n, name: "Fern" };
        await storage.insertPlant(owner, kept, undefined);
        other.run("BEGIN IMMEDIATE");
        other.run("DELETE FROM plants");
        let isSettled = false;
        const blocked = storage.insertPlant(owner, { id: 2n, name: "Iris" }, undefined).finally(() => {
          isSettled = true;
        });
        for (let n = 0; n < 100; n++) expect(await storage.selectPlants(owner, { limit: 9 })).toStrictEqual([kept]);
        await storage.ping();
        expect(isSettled).toBe(false);
        other.run("ROLLBACK");
        expect(await blocked).toBe("inserted");
        expect(await storage.selectPlants(owner, { limit: 9 })).toStrictEqual([kept, { id: 2n, name: "Iris" }]);
      }),
    TIMEOUT_MS,
  );

  it(
    "rejects writes immediately when the queue is full, and completes the others",
    () =>
      withSecondConnection(async (storage, other) => {
        const plants = Array.from({ length: 4_096 + 1_024 + 500 }, (_, n) => ({ id: BigInt(n), name: "Fern" }));
        other.run("BEGIN IMMEDIATE");
        const rejected = new Set<Plant>();
        const writes = plants.map((plant) =>
          storage.insertPlant("ann", plant, undefined).catch((error: AppError) => {
            expect(error).toBeInstanceOf(AppError);
            expect(error.code).toBe("unavailable");
            rejected.add(plant);
          }),
        );
        await storage.ping();
        expect(rejected.size).toBeGreaterThanOrEqual(500);
        other.run("ROLLBACK");
        const outcomes = await Promise.all(writes);
        expect(outcomes.filter((outcome) => outcome === "inserted").length).toBeGreaterThanOrEqual(4_096);
        const accepted = plants.filter((plant) => !rejected.has(plant));
        expect(await storage.selectPlants("ann", { limit: 9_999 })).toStrictEqual(accepted);
      }),
    TIMEOUT_MS,
  );
});

describe("a batch with a failing write", () => {
  it("fails completely, changes nothing, and does not affect the next batch", () =>
    withSecondConnection(async (storage, other) => {
      const kept = { id: 1n, name: "Fern" };
      await storage.insertPlant("ann", kept, undefined);
      other.run(
        "CREATE TRIGGER reject BEFORE INSERT ON plants WHEN NEW.name = 'Hemlock' BEGIN SELECT RAISE(ABORT, 'no'); END",
      );
      const token = { digest: "aa", owner: "ann", scopes: [], createdAt: 1 };
      const settled = await Promise.allSettled([
        storage.insertPlant("ann", { id: 2n, name: "Iris" }, undefined),
        storage.deletePlant("ann", 1n),
        storage.insertPlant("ann", { id: 3n, name: "Hemlock" }, undefined),
        storage.insertPlant("bob", { id: 4n, name: "Sage" }, undefined),
        storage.insertToken(token),
      ]);
      for (const result of settled) {
        expect(result.status).toBe("rejected");
        expect((result as PromiseRejectedResult).reason).toBeInstanceOf(AppError);
      }
      expect(await storage.selectPlants("ann", { limit: 9 })).toStrictEqual([kept]);
      expect(await storage.selectPlants("bob", { limit: 9 })).toEqual([]);
      expect(await storage.selectTokens()).toEqual([]);
      expect(await storage.insertPlant("ann", { id: 2n, name: "Iris" }, undefined)).toBe("inserted");
      expect(await storage.deletePlant("ann", 1n)).toBe(true);
    }));
});
