import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { PlantStoreClient } from "../../../src/client/index.ts";
import type { Plant } from "../../../src/domain/plant.ts";
import { openStorage } from "../../../src/storage/open.ts";
import { backUp } from "../../../src/storage/sqlite/backup.ts";
import { cleanEnvironment, commandLine, createToken, run, type ServerProcess, track } from "../../support/program.ts";
import { useServerProcesses } from "../../support/server-processes.ts";
import { temporaryFolder } from "../../support/service.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder.remove());

let folders = 0;
/** Returns a path in a new folder, so that a test can see all files next to it. */
function newPath(name = "plants.db"): string {
  const path = join(folder.path, `${++folders}`, name);
  mkdirSync(dirname(path));
  return path;
}
const siblingsOf = (path: string): string[] => readdirSync(dirname(path)).sort();

const startServerProcess = useServerProcesses();

async function start(path: string, ...args: string[]): Promise<ServerProcess> {
  return await startServerProcess(["--database", `sqlite:${path}`, ...args]);
}

/** Runs a command with this database. */
const runOn = (path: string, ...args: string[]) => run([...args, "--database", `sqlite:${path}`]);

const clientOf = ({ url }: ServerProcess, token: string) => new PlantStoreClient({ url, token, attempts: 1 });

async function plantsOf(client: PlantStoreClient): Promise<Map<bigint, Plant>> {
  const found = new Map<bigint, Plant>();
  for await (const plant of client.listPlants({ limit: 5_000 })) found.set(plant.id, plant);
  return found;
}

/** Creates a database in which ann has `count` plants with ids from 1. `change` may corrupt it. */
async function createDatabase(count: number, change: (db: Database) => void = () => {}): Promise<string> {
  const path = newPath();
  await (await openStorage({ engine: "sqlite", file: path }, { forServer: false })).close();
  const db = new Database(path);
  db.run(
    `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${count})
     INSERT INTO plants SELECT 'ann', id, 'plant ' || id, iif(id % 2, 'tag ' || id, NULL), NULL FROM ids`,
  );
  change(db);
  db.close();
  return path;
}

/** Returns the ids of all plants of ann. */
async function idsIn(path: string): Promise<number[]> {
  const storage = await openStorage({ engine: "sqlite", file: path }, { forServer: false, mustExist: true });
  const plants = await storage.selectPlants("ann", { limit: 1_000_000 });
  await storage.close();
  return plants.map(({ id }) => Number(id));
}

describe("backup, restore and check", () => {
  const foreign = async () => {
    const path = newPath();
    const db = new Database(path);
    db.run("CREATE TABLE letters (text)");
    db.close();
    return path;
  };
  const text = async () => {
    const path = newPath();
    writeFileSync(path, "not a database\n".repeat(1_000));
    return path;
  };
  const newer = () => createDatabase(1, (db) => db.run("PRAGMA user_version = 999"));
  const empty = async () => {
    const path = newPath();
    writeFileSync(path, "");
    return path;
  };
  const damaged = async () => {
    const path = await createDatabase(5_000);
    truncateSync(path, statSync(path).size - 4_096);
    return path;
  };
  const missing = async () => newPath();

  const unusable: [file: string, create: () => Promise<string>, reason: RegExp][] = [
    ["a missing file", missing, /does not exist/],
    ["a text file", text, /is damaged \(file is not a database\)/],
    ["a database of another program", foreign, /another program/],
    ["a database of a newer version", newer, /newer Plant Store.*upgrade/],
    ["an empty file", empty, /is an empty file/],
    ["a damaged database", damaged, /is damaged \(database disk image is malformed\)/],
  ];
  for (const [file, create, reason] of unusable) {
    it(`exit with 1 and a one-line error for ${file}, and create no files`, async () => {
      const path = await create();
      const [target, existing] = [newPath("backup.db"), await createDatabase(3)];
      const bytes = existsSync(path) ? readFileSync(path) : undefined;
      const runs = [
        await runOn(path, "backup", target),
        await runOn(target, "restore", path),
        await runOn(existing, "restore", path, "--force"),
        ...(file === "a damaged database" || file === "a text file" ? [] : [await runOn(path, "check")]),
      ];
      for (const { exitCode, stdout, stderr } of runs) {
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
        expect(stderr).toMatch(/^plantstore: .*\n$/);
        expect(stderr).toMatch(reason);
      }
      expect(runs[1]?.stderr).not.toContain("plantstore restore");
      const isLock = (name: string) => name.endsWith(".server-lock");
      expect([...siblingsOf(target), ...siblingsOf(existing)].filter((name) => !isLock(name))).toEqual(["plants.db"]);
      expect(await idsIn(existing)).toEqual([1, 2, 3]);
      if (bytes !== undefined) expect(readFileSync(path).equals(bytes)).toBe(true);
    });
  }

  it("exit with 2 for PostgreSQL, naming the alternative, and for missing or extra arguments", async () => {
    const postgres = ["--database", "postgres://user@127.0.0.1:1/plants"];
    for (const args of [["backup", "x"], ["restore", "x"], ["check"], ["serve", "--backup-dir", "x"]]) {
      const { exitCode, stdout, stderr } = await run([...args, ...postgres]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^plantstore: .*pg_dump.*docs\/operations\.md\n$/);
    }
    for (const args of [["backup"], ["restore"], ["check", "x"]]) expect((await run(args)).exitCode).toBe(2);
  });
});

describe("plantstore backup", () => {
  it("exits with 1 when the file exists or its folder does not", async () => {
    const path = await createDatabase(3);
    const target = newPath("backup.db");
    writeFileSync(target, "previous content");
    const { exitCode, stdout, stderr } = await runOn(path, "backup", target);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toBe(`plantstore: ${target} already exists: use a new file name\n`);
    expect(readFileSync(target, "utf8")).toBe("previous content");
    const missingFolder = await runOn(path, "backup", join(folder.path, "missing", "backup.db"));
    expect(missingFolder).toMatchObject({ exitCode: 1, stdout: "" });
    expect(missingFolder.stderr).toMatch(/^plantstore: the folder .* does not exist\n$/);
  });

  it("creates a valid backup that only its owner can read, and prints its contents", async () => {
    const path = await createDatabase(3, (db) => db.run("INSERT INTO plants VALUES ('bob', 1, 'Fern', '', 'key')"));
    await createToken(`sqlite:${path}`, "ann");
    const target = newPath("backup.db");
    const { exitCode, stdout, stderr } = await runOn(path, "backup", target);
    const { size, mode } = statSync(target);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `4 plants of 2 owners, 1 token backed up: ${size} bytes\n`,
      stderr: "",
    });
    expect(mode & 0o777).toBe(0o600);
    expect(siblingsOf(target)).toEqual(["backup.db"]);
    expect(await runOn(target, "check")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    it(`leaves no backup file when ${signal} interrupts it`, async () => {
      const path = await createDatabase(300_000);
      const target = newPath("backup.db");
      const args = commandLine(["backup", target, "--database", `sqlite:${path}`]);
      const child = track(Bun.spawn(args, { env: cleanEnvironment, stdout: "pipe", stderr: "pipe" }));
      await until(() => siblingsOf(target).length > 0);
      child.kill(signal);
      // npm and the terminal may each send the signal.
      child.kill(signal);
      await child.exited;
      const names = siblingsOf(target);
      if (signal === "SIGKILL") {
        expect(names).toEqual([expect.stringMatching(/^backup\.db\.partial-/)]);
        expect(statSync(join(dirname(target), names[0] as string)).mode & 0o777).toBe(0o700);
      } else {
        expect(names).toEqual([]);
        expect(child.exitCode).toBe(1);
        expect(await new Response(child.stderr).text()).toBe("plantstore: interrupted\n");
      }
      expect(await runOn(path, "backup", target)).toMatchObject({ exitCode: 0 });
    });
  }

  it("fails when the WAL of the server grows too long, and leaves no files", async () => {
    const path = newPath();
    const storage = await openStorage({ engine: "sqlite", file: path }, { forServer: true });
    for (let id = 1n; id <= 20n; id++) await storage.insertPlant("ann", { id, name: "Fern" }, undefined);
    const target = newPath("backup.db");
    await expect(backUp(path, target, { maxWalBytes: 10_000 })).rejects.toThrow("WAL exceeded 10000 bytes");
    expect(siblingsOf(target)).toEqual([]);
    expect(await backUp(path, target)).toMatchObject({ plants: 20, owners: 1, tokens: 0 });
    await storage.close();
  });
});

describe("plantstore check", () => {
  const invalidRows: [problem: string, sql: string, line: RegExp][] = [
    [
      "a name that is too long",
      "UPDATE plants SET name = printf('%.1025c', 'x') WHERE id = 3",
      /plant 3 of "ann": name/,
    ],
    ["an empty name", "UPDATE plants SET name = '' WHERE id = 3", /plant 3 of "ann": name/],
    ["a name with U+0000", "UPDATE plants SET name = 'a' || char(0) WHERE id = 3", /plant 3 of "ann": name .*U\+0000/],
    [
      "a name in invalid UTF-8",
      "UPDATE plants SET name = CAST(x'61ff' AS TEXT) WHERE id = 3",
      /plant 3 .*is not UTF-8/,
    ],
    ["a tag in invalid UTF-8", "UPDATE plants SET tag = CAST(x'c3' AS TEXT) WHERE id = 3", /plant 3 .*is not UTF-8/],
    ["a tag that is too long", "UPDATE plants SET tag = printf('%.256c', 'x') WHERE id = 3", /plant 3 .*tag/],
    ["an idempotency key with a space", "UPDATE plants SET idempotency_key = 'a b' WHERE id = 3", /plant 3 .*key/],
    ["an empty owner", "UPDATE plants SET owner = '' WHERE id = 3", /plant 3 of "": the owner/],
    ["a token without a digest", "INSERT INTO tokens VALUES ('x', 'ann', '', NULL, 1, NULL, NULL, NULL)", /token "x"/],
    [
      "a token with an unknown scope",
      `INSERT INTO tokens VALUES ('${"a".repeat(64)}', 'ann', 'all', NULL, 1, NULL, NULL, NULL)`,
      /token "aaaaaaaaaaaa"/,
    ],
  ];
  for (const [problem, sql, line] of invalidRows) {
    it(`reports ${problem} and the remedy, and exits with 1`, async () => {
      const path = await createDatabase(9, (db) => db.run(sql));
      const { exitCode, stdout, stderr } = await runOn(path, "check");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      const [first, last, ...others] = stderr.trimEnd().split("\n");
      expect(first).toMatch(line);
      expect(last).toMatch(/^plantstore: .* failed the check: .*"plantstore restore FILE --force"$/);
      expect(others).toEqual([]);
    });
  }

  it("reports at most 20 invalid rows", async () => {
    const path = await createDatabase(99, (db) => db.run("UPDATE plants SET name = ''"));
    expect((await runOn(path, "check")).stderr.trimEnd().split("\n").length).toBe(21);
  });

  it("finds no problems while a server runs, with any text that a plant can have", async () => {
    const path = newPath();
    const token = await createToken(`sqlite:${path}`, "ann", ["--scopes", "plants:write"]);
    const server = await start(path);
    const client = clientOf(server, token);
    const names = ["\ufeff", "\u{1f33f}".repeat(1_024), "\ufeffmark", "e\u0301 \u2028", "\uffff\ufffd"];
    for (const [n, name] of names.entries()) {
      const plant = { id: BigInt(n) - 2n, name, ...(n % 2 === 0 ? {} : { tag: "" }) };
      await client.createPlant(plant, { idempotencyKey: "!~".repeat(127) });
    }
    const { exitCode, stdout, stderr } = await runOn(path, "check");
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `no problems in ${path}: 5 plants of 1 owner, 1 token\n`,
      stderr: "",
    });
  });
});

describe("plantstore restore", () => {
  it("exits with 1 when the database exists without --force, and when the backup is the database itself", async () => {
    const [backup, path] = [await createDatabase(3), await createDatabase(5)];
    const { exitCode, stdout, stderr } = await runOn(path, "restore", backup);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toBe(
      `plantstore: ${path} already exists: use --force to replace it; it is kept under another name\n`,
    );
    expect((await runOn(path, "restore", path, "--force")).stderr).toMatch(
      /^plantstore: .* is the database itself.*\n$/,
    );
    expect(await idsIn(path)).toEqual([1, 2, 3, 4, 5]);
  });

  it("exits with 1 while a server uses the database", async () => {
    const [backup, path] = [await createDatabase(3), await createDatabase(5)];
    await start(path);
    const { exitCode, stdout, stderr } = await runOn(path, "restore", backup, "--force");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^plantstore: another server is running on .*\n$/);
  });

  it("exits with 1 while another process has the database open", async () => {
    const [backup, path] = [await createDatabase(3), await createDatabase(5)];
    const other = await openStorage({ engine: "sqlite", file: path }, { forServer: false });
    const { exitCode, stderr } = await runOn(path, "restore", backup, "--force");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^plantstore: cannot replace .*: .*another process uses it.*\n$/);
    await other.insertPlant("ann", { id: 6n, name: "Fern" }, undefined);
    await other.close();
    expect(await idsIn(path)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(siblingsOf(path)).toEqual(["plants.db", "plants.db.server-lock"]);
  });

  it("creates the database and its folder", async () => {
    const [backup, path] = [await createDatabase(3), join(newPath(), "new", "plants.db")];
    rmSync(dirname(dirname(path)), { force: true });
    const { exitCode, stdout, stderr } = await runOn(path, "restore", backup);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `3 plants of 1 owner, 0 tokens restored to ${path}\n`,
      stderr: "",
    });
    expect(await idsIn(path)).toEqual([1, 2, 3]);
    expect(siblingsOf(path)).toEqual(["plants.db", "plants.db.server-lock"]);
  });

  it("keeps the previous database with the WAL of a killed server, and does not apply that WAL to the restored one", async () => {
    const [backup, path] = [await createDatabase(3), await createDatabase(5)];
    chmodSync(path, 0o640);
    const server = await start(path);
    const client = clientOf(server, await createToken(`sqlite:${path}`, "ann"));
    for (let id = 6n; id <= 50n; id++) await client.createPlant({ id, name: "Fern" });
    await server.stop("SIGKILL");
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    const { exitCode, stdout } = await runOn(path, "restore", backup, "--force");
    const [, replaced = ""] = /^3 plants .* the previous database is now (\S+)\n$/.exec(stdout) ?? [];
    expect(exitCode).toBe(0);
    expect(basename(replaced)).toMatch(/^plants\.db\.replaced-\d{8}T\d{6}Z$/);
    expect(siblingsOf(path)).toEqual(["plants.db", basename(replaced), "plants.db.server-lock"].sort());
    expect(await idsIn(path)).toEqual([1, 2, 3]);
    expect((await idsIn(replaced)).length).toBe(50);
    expect([statSync(path).mode & 0o777, statSync(backup).mode & 0o777]).toEqual([0o640, 0o644]);
  });

  it("keeps an unreadable previous database with its WAL and journal", async () => {
    const [backup, path] = [await createDatabase(3), await createDatabase(5)];
    const server = await start(path);
    await server.stop("SIGKILL");
    writeFileSync(path, "not a database");
    writeFileSync(`${path}-wal`, "its WAL");
    writeFileSync(`${path}-journal`, "its journal");
    const { exitCode, stdout } = await runOn(path, "restore", backup, "--force");
    const [, replaced = ""] = /now (\S+)\n$/.exec(stdout) ?? [];
    expect(exitCode).toBe(0);
    expect(await idsIn(path)).toEqual([1, 2, 3]);
    expect([replaced, `${replaced}-wal`, `${replaced}-journal`].map((each) => readFileSync(each, "utf8"))).toEqual([
      "not a database",
      "its WAL",
      "its journal",
    ]);
  });

  it("does not apply a WAL whose database is missing", async () => {
    const backup = await createDatabase(3);
    const [path, donor] = [newPath(), newPath()];
    const storage = await openStorage({ engine: "sqlite", file: donor }, { forServer: false });
    for (let id = 1n; id <= 9n; id++) await storage.insertPlant("ann", { id, name: "Fern" }, undefined);
    copyFileSync(`${donor}-wal`, `${path}-wal`);
    await storage.close();
    expect((await runOn(path, "restore", backup)).stderr).toMatch(/^plantstore: .* already exists: use --force.*\n$/);
    expect((await runOn(path, "restore", backup, "--force")).exitCode).toBe(0);
    expect(await idsIn(path)).toEqual([1, 2, 3]);
  });

  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    it(`leaves the previous database in place when ${signal} interrupts it`, async () => {
      const [backup, path] = [await createDatabase(300_000), await createDatabase(5)];
      const args = commandLine(["restore", backup, "--force", "--database", `sqlite:${path}`]);
      const child = track(Bun.spawn(args, { stdout: "ignore", stderr: "ignore" }));
      await until(() => siblingsOf(path).some((name) => name.includes(".partial-")));
      child.kill(signal);
      await child.exited;
      expect(await idsIn(path)).toEqual([1, 2, 3, 4, 5]);
      const partials = siblingsOf(path).filter((name) => name.includes(".partial-"));
      expect(partials.length).toBe(signal === "SIGKILL" ? 1 : 0);
      expect((await runOn(path, "restore", backup, "--force")).exitCode).toBe(0);
    });
  }
});

describe("recovery from a backup", () => {
  it("restores every write acknowledged before the backup, and no plant that was never requested", async () => {
    const path = newPath();
    const backup = newPath("backup.db");
    const token = await createToken(`sqlite:${path}`, "ann");
    const server = await start(path);
    const requested = new Map<bigint, Plant>();
    const [acknowledged, deleteRequested, deleted] = [new Map<bigint, Plant>(), new Set<bigint>(), new Set<bigint>()];
    const writing = write(clientOf(server, token), { requested, acknowledged, deleteRequested, deleted });
    await until(() => acknowledged.size >= 1_000);

    const [acknowledgedBefore, deletedBefore] = [new Map(acknowledged), new Set(deleted)];
    const backedUp = await runOn(path, "backup", backup);
    expect(backedUp).toMatchObject({ exitCode: 0, stderr: "" });
    const deleteRequestedByBackupEnd = new Set(deleteRequested);
    const later = acknowledged.size + 500;
    await until(() => acknowledged.size >= later);
    const lateToken = await createToken(`sqlite:${path}`, "ann");
    server.process.kill("SIGKILL");
    await writing;
    await server.process.exited;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });

    expect(await runOn(path, "restore", backup)).toMatchObject({ exitCode: 0, stderr: "" });
    const again = await start(path);
    const client = clientOf(again, token);
    const found = await plantsOf(client);
    const lost = [...acknowledgedBefore.keys()].filter((id) => !found.has(id) && !deleteRequestedByBackupEnd.has(id));
    expect(lost).toEqual([]);
    expect([...deletedBefore].filter((id) => found.has(id))).toEqual([]);
    for (const [id, plant] of found) expect(plant).toStrictEqual(requested.get(id) as Plant);
    expect(backedUp.stdout).toStartWith(`${found.size} plants of 1 owner, 1 token backed up: `);
    expect(found.size).toBeLessThan(acknowledged.size);
    await expect(clientOf(again, lateToken).createPlant({ id: 1n, name: "Fern" })).rejects.toMatchObject({
      status: 401,
    });
    for (const [id, plant] of acknowledged) {
      if (!found.has(id) && !deleted.has(id)) await client.createPlant(plant, { idempotencyKey: `key-${id}` });
    }
    expect(await runOn(path, "check")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  interface Written {
    readonly requested: Map<bigint, Plant>;
    readonly acknowledged: Map<bigint, Plant>;
    /** Plants whose deletion was requested, and those whose deletion was acknowledged. */
    readonly deleteRequested: Set<bigint>;
    readonly deleted: Set<bigint>;
  }

  /** Creates plants concurrently, and deletes every fifth one, until the server stops. */
  async function write(
    client: PlantStoreClient,
    { requested, acknowledged, deleteRequested, deleted }: Written,
  ): Promise<void> {
    let next = 0n;
    const writers = Array.from({ length: 24 }, async () => {
      for (;;) {
        const id = next++;
        const plant = { id, name: `plant ${id}`, ...(id % 2n === 0n ? {} : { tag: `tag ${id % 7n}` }) };
        requested.set(id, plant);
        await client.createPlant(plant, { idempotencyKey: `key-${id}` });
        acknowledged.set(id, plant);
        if (id % 5n !== 0n) continue;
        deleteRequested.add(id);
        await client.deletePlant(id);
        deleted.add(id);
      }
    });
    await Promise.allSettled(writers);
  }
});
