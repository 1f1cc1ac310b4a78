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
import { PlantStoreClient } from "../src/client/index.ts";
import type { NewPlant } from "../src/domain/plant.ts";
import { openStorage } from "../src/storage/open.ts";
import { backUp } from "../src/storage/sqlite/backup.ts";
import { commandLine, createToken, type Program, run, track } from "./support/program.ts";
import { temporaryFolder } from "./support/service.ts";
import { startPrograms } from "./support/started.ts";
import { until } from "./support/until.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder.remove());

let folders = 0;
/** A path in a folder of its own, so that what is left beside it can be seen. */
function newPath(name = "plants.db"): string {
  const path = join(folder.path, `${++folders}`, name);
  mkdirSync(dirname(path));
  return path;
}
const namesBeside = (path: string): string[] => readdirSync(dirname(path)).sort();

const startProgram = startPrograms();

async function start(path: string, ...args: string[]): Promise<Program> {
  return await startProgram(["--database", `sqlite:${path}`, ...args]);
}

/** Runs a command on a database to its end. */
const on = (path: string, ...args: string[]) => run([...args, "--database", `sqlite:${path}`]);

const clientOf = ({ url }: Program, token: string) => new PlantStoreClient({ url, token, attempts: 1 });

async function plantsOf(client: PlantStoreClient): Promise<Map<bigint, NewPlant>> {
  const found = new Map<bigint, NewPlant>();
  for await (const plant of client.listPlants({ limit: 5_000 })) found.set(plant.id, plant);
  return found;
}

/** A closed database with `count` plants of ann, from 1 on; `change` may do to it what the program would not. */
async function makeDatabase(count: number, change: (db: Database) => void = () => {}): Promise<string> {
  const path = newPath();
  await (await openStorage(`sqlite:${path}`, { forServer: false })).close();
  const db = new Database(path);
  db.run(
    `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${count})
     INSERT INTO plants SELECT 'ann', id, 'plant ' || id, iif(id % 2, 'tag ' || id, NULL), NULL FROM ids`,
  );
  change(db);
  db.close();
  return path;
}

/** The plants of a closed database, by their ids. */
async function idsIn(path: string): Promise<number[]> {
  const storage = await openStorage(`sqlite:${path}`, { forServer: false, mustExist: true });
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
    writeFileSync(path, "Dear diary\n".repeat(1_000));
    return path;
  };
  const newer = () => makeDatabase(1, (db) => db.run("PRAGMA user_version = 999"));
  const empty = async () => {
    const path = newPath();
    writeFileSync(path, "");
    return path;
  };
  const damaged = async () => {
    const path = await makeDatabase(5_000);
    truncateSync(path, statSync(path).size - 4_096);
    return path;
  };
  const missing = async () => newPath();

  const unusable: [what: string, make: () => Promise<string>, reason: RegExp][] = [
    ["a file that is not there", missing, /there is no/],
    ["a text", text, /no sound database \(file is not a database\)/],
    ["another program's database", foreign, /another program/],
    ["a newer program's database", newer, /newer Plant Store.*upgrade/],
    ["an empty file", empty, /is an empty file/],
    ["a damaged database", damaged, /no sound database \(database disk image is malformed\)/],
  ];
  for (const [what, make, reason] of unusable) {
    it(`refuse ${what} in one line with exit code 1, and leave nothing behind`, async () => {
      const path = await make();
      const [target, kept] = [newPath("made.db"), await makeDatabase(3)];
      const bytes = existsSync(path) ? readFileSync(path) : undefined;
      const runs = [
        await on(path, "backup", target),
        await on(target, "restore", path),
        await on(kept, "restore", path, "--force"),
        ...(what === "a damaged database" || what === "a text" ? [] : [await on(path, "check")]),
      ];
      for (const { exitCode, stdout, stderr } of runs) {
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
        expect(stderr).toMatch(/^plantstore: .*\n$/);
        expect(stderr).toMatch(reason);
      }
      expect(runs[1]?.stderr).not.toContain("plantstore restore");
      const isLock = (name: string) => name.endsWith(".server-lock");
      expect([...namesBeside(target), ...namesBeside(kept)].filter((name) => !isLock(name))).toEqual(["plants.db"]);
      expect(await idsIn(kept)).toEqual([1, 2, 3]);
      if (bytes !== undefined) expect(readFileSync(path).equals(bytes)).toBe(true);
    });
  }

  it("refuse PostgreSQL with what to use instead, and a call without a file, with exit code 2", async () => {
    const postgres = ["--database", "postgres://nobody@127.0.0.1:1/plants"];
    for (const args of [["backup", "x"], ["restore", "x"], ["check"], ["serve", "--backup-dir", "x"]]) {
      const { exitCode, stdout, stderr } = await run([...args, ...postgres]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toMatch(/^plantstore: .*pg_dump.*docs\/operations\.md\n$/);
    }
    for (const args of [["backup"], ["restore"], ["check", "x"]]) expect((await run(args)).exitCode).toBe(2);
  });
});

describe("plantstore backup", () => {
  it("makes a sound copy that only its owner may read, with nothing beside it, and tells what is in it", async () => {
    const path = await makeDatabase(3, (db) => db.run("INSERT INTO plants VALUES ('bob', 1, 'Fern', '', 'key')"));
    await createToken(`sqlite:${path}`, "ann");
    const target = newPath("made.db");
    const { exitCode, stdout, stderr } = await on(path, "backup", target);
    const { size, mode } = statSync(target);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `4 plants of 2 owners, 1 token backed up: ${size} bytes\n`,
      stderr: "",
    });
    expect(mode & 0o777).toBe(0o600);
    expect(namesBeside(target)).toEqual(["made.db"]);
    expect(await on(target, "check")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("does not touch a file that is there", async () => {
    const path = await makeDatabase(3);
    const target = newPath("made.db");
    writeFileSync(target, "precious");
    const { exitCode, stdout, stderr } = await on(path, "backup", target);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toBe(`plantstore: ${target} is there already: name a new file\n`);
    expect(readFileSync(target, "utf8")).toBe("precious");
    const nowhere = await on(path, "backup", join(folder.path, "nowhere", "made.db"));
    expect(nowhere).toMatchObject({ exitCode: 1, stdout: "" });
    expect(nowhere.stderr).toMatch(/^plantstore: there is no folder .*\n$/);
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"] as const) {
    it(`that is ended by ${signal} leaves no file with the name of a backup`, async () => {
      const path = await makeDatabase(300_000);
      const target = newPath("made.db");
      const args = commandLine(["backup", target, "--database", `sqlite:${path}`]);
      const child = track(Bun.spawn(args, { stdout: "pipe", stderr: "pipe" }));
      await until(() => namesBeside(target).length > 0);
      child.kill(signal);
      // A terminal signals twice at times.
      child.kill(signal);
      await child.exited;
      const left = namesBeside(target);
      if (signal === "SIGKILL") {
        expect(left).toEqual([expect.stringMatching(/^made\.db\.partial-/)]);
        expect(statSync(join(dirname(target), left[0] as string)).mode & 0o777).toBe(0o700);
      } else {
        expect(left).toEqual([]);
        expect(child.exitCode).toBe(1);
        expect(await new Response(child.stderr).text()).toBe("plantstore: interrupted\n");
      }
      expect(await on(path, "backup", target)).toMatchObject({ exitCode: 0 });
    });
  }

  it("gives up when the log of the server grows too long, and leaves nothing behind", async () => {
    const path = newPath();
    const storage = await openStorage(`sqlite:${path}`, { forServer: true });
    for (let id = 1n; id <= 20n; id++) await storage.insertPlant("ann", { id, name: "Fern" }, undefined);
    const target = newPath("made.db");
    await expect(backUp(path, target, { maxLogBytes: 10_000 })).rejects.toThrow("written 10000 bytes meanwhile");
    expect(namesBeside(target)).toEqual([]);
    expect(await backUp(path, target)).toMatchObject({ plants: 20, owners: 1, tokens: 0 });
    await storage.close();
  });
});

describe("plantstore check", () => {
  const faults: [what: string, sql: string, told: RegExp][] = [
    [
      "a name that is too long",
      "UPDATE plants SET name = printf('%.1025c', 'x') WHERE id = 3",
      /plant 3 of "ann": name/,
    ],
    ["an empty name", "UPDATE plants SET name = '' WHERE id = 3", /plant 3 of "ann": name/],
    ["a name with U+0000", "UPDATE plants SET name = 'a' || char(0) WHERE id = 3", /plant 3 of "ann": name .*U\+0000/],
    ["a name that is no UTF-8", "UPDATE plants SET name = CAST(x'61ff' AS TEXT) WHERE id = 3", /plant 3 .*no UTF-8/],
    ["a tag that is no UTF-8", "UPDATE plants SET tag = CAST(x'c3' AS TEXT) WHERE id = 3", /plant 3 .*no UTF-8/],
    ["a tag that is too long", "UPDATE plants SET tag = printf('%.256c', 'x') WHERE id = 3", /plant 3 .*tag/],
    ["a key with a space", "UPDATE plants SET idempotency_key = 'a b' WHERE id = 3", /plant 3 .*key/],
    ["an empty owner", "UPDATE plants SET owner = '' WHERE id = 3", /plant 3 of "": the owner/],
    ["a token without digest", "INSERT INTO tokens VALUES ('x', 'ann', '', NULL, 1, NULL, NULL, NULL)", /token "x"/],
    [
      "a token with a strange scope",
      `INSERT INTO tokens VALUES ('${"a".repeat(64)}', 'ann', 'all', NULL, 1, NULL, NULL, NULL)`,
      /token "aaaaaaaaaaaa"/,
    ],
  ];
  for (const [what, sql, told] of faults) {
    it(`tells ${what}, what to do, and exits with 1`, async () => {
      const path = await makeDatabase(9, (db) => db.run(sql));
      const { exitCode, stdout, stderr } = await on(path, "check");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      const [fault, conclusion, ...rest] = stderr.trimEnd().split("\n");
      expect(fault).toMatch(told);
      expect(conclusion).toMatch(/^plantstore: .* is no sound database; .*"plantstore restore FILE --force"$/);
      expect(rest).toEqual([]);
    });
  }

  it("tells at most twenty faults", async () => {
    const path = await makeDatabase(99, (db) => db.run("UPDATE plants SET name = ''"));
    expect((await on(path, "check")).stderr.trimEnd().split("\n").length).toBe(21);
  });

  it("finds a database sound while a server runs on it, with every text that a plant can have", async () => {
    const path = newPath();
    const token = await createToken(`sqlite:${path}`, "ann", ["--scopes", "plants:write"]);
    const program = await start(path);
    const client = clientOf(program, token);
    const names = ["\ufeff", "\u{1f33f}".repeat(1_024), "\ufeffmark", "e\u0301 \u2028", "\uffff\ufffd"];
    for (const [n, name] of names.entries()) {
      const plant = { id: BigInt(n) - 2n, name, ...(n % 2 === 0 ? {} : { tag: "" }) };
      await client.createPlant(plant, { idempotencyKey: "!~".repeat(127) });
    }
    const { exitCode, stdout, stderr } = await on(path, "check");
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `5 plants of 1 owner, 1 token: ${path} is sound\n`,
      stderr: "",
    });
  });
});

describe("plantstore restore", () => {
  it("puts a backup where no database is, and makes the folder", async () => {
    const [backup, path] = [await makeDatabase(3), join(newPath(), "new", "plants.db")];
    rmSync(dirname(dirname(path)), { force: true });
    const { exitCode, stdout, stderr } = await on(path, "restore", backup);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `3 plants of 1 owner, 0 tokens restored to ${path}\n`,
      stderr: "",
    });
    expect(await idsIn(path)).toEqual([1, 2, 3]);
    expect(namesBeside(path)).toEqual(["plants.db", "plants.db.server-lock"]);
  });

  it("refuses to replace a database without --force, and itself even with it", async () => {
    const [backup, path] = [await makeDatabase(3), await makeDatabase(5)];
    const { exitCode, stdout, stderr } = await on(path, "restore", backup);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toBe(`plantstore: ${path} is there already: --force puts it aside first\n`);
    expect((await on(path, "restore", path, "--force")).stderr).toMatch(/^plantstore: .* is the database itself.*\n$/);
    expect(await idsIn(path)).toEqual([1, 2, 3, 4, 5]);
  });

  it("refuses while a server runs on the database", async () => {
    const [backup, path] = [await makeDatabase(3), await makeDatabase(5)];
    await start(path);
    const { exitCode, stdout, stderr } = await on(path, "restore", backup, "--force");
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^plantstore: another server is running on .*\n$/);
  });

  it("refuses while another process has the database open", async () => {
    const [backup, path] = [await makeDatabase(3), await makeDatabase(5)];
    const other = await openStorage(`sqlite:${path}`, { forServer: false });
    const { exitCode, stderr } = await on(path, "restore", backup, "--force");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^plantstore: .* cannot be put aside: .*another process uses it.*\n$/);
    await other.insertPlant("ann", { id: 6n, name: "Fern" }, undefined);
    await other.close();
    expect(await idsIn(path)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(namesBeside(path)).toEqual(["plants.db", "plants.db.server-lock"]);
  });

  it("keeps the old database, with the log that a killed server left, and does not apply that to the new one", async () => {
    const [backup, path] = [await makeDatabase(3), await makeDatabase(5)];
    chmodSync(path, 0o640);
    const program = await start(path);
    const client = clientOf(program, await createToken(`sqlite:${path}`, "ann"));
    for (let id = 6n; id <= 50n; id++) await client.createPlant({ id, name: "Fern" });
    await program.stop("SIGKILL");
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    const { exitCode, stdout } = await on(path, "restore", backup, "--force");
    const [, aside = ""] = /^3 plants .* what was there is now (\S+)\n$/.exec(stdout) ?? [];
    expect(exitCode).toBe(0);
    expect(basename(aside)).toMatch(/^plants\.db\.replaced-\d{8}T\d{6}Z$/);
    expect(namesBeside(path)).toEqual(["plants.db", basename(aside), "plants.db.server-lock"].sort());
    expect(await idsIn(path)).toEqual([1, 2, 3]);
    expect((await idsIn(aside)).length).toBe(50);
    expect([statSync(path).mode & 0o777, statSync(backup).mode & 0o777]).toEqual([0o640, 0o644]);
  });

  it("keeps a database that is too damaged to be opened as it is, log and all", async () => {
    const [backup, path] = [await makeDatabase(3), await makeDatabase(5)];
    const program = await start(path);
    await program.stop("SIGKILL");
    writeFileSync(path, "Dear diary");
    writeFileSync(`${path}-wal`, "its log");
    writeFileSync(`${path}-journal`, "its journal");
    const { exitCode, stdout } = await on(path, "restore", backup, "--force");
    const [, aside = ""] = /now (\S+)\n$/.exec(stdout) ?? [];
    expect(exitCode).toBe(0);
    expect(await idsIn(path)).toEqual([1, 2, 3]);
    expect([aside, `${aside}-wal`, `${aside}-journal`].map((each) => readFileSync(each, "utf8"))).toEqual([
      "Dear diary",
      "its log",
      "its journal",
    ]);
  });

  it("does not apply a log whose database is gone", async () => {
    const backup = await makeDatabase(3);
    const [path, lender] = [newPath(), newPath()];
    const storage = await openStorage(`sqlite:${lender}`, { forServer: false });
    for (let id = 1n; id <= 9n; id++) await storage.insertPlant("ann", { id, name: "Fern" }, undefined);
    copyFileSync(`${lender}-wal`, `${path}-wal`);
    await storage.close();
    expect((await on(path, "restore", backup)).stderr).toMatch(/^plantstore: .* is there already: --force.*\n$/);
    expect((await on(path, "restore", backup, "--force")).exitCode).toBe(0);
    expect(await idsIn(path)).toEqual([1, 2, 3]);
  });

  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    it(`that is ended by ${signal} leaves the old database in its place`, async () => {
      const [backup, path] = [await makeDatabase(300_000), await makeDatabase(5)];
      const args = commandLine(["restore", backup, "--force", "--database", `sqlite:${path}`]);
      const child = track(Bun.spawn(args, { stdout: "ignore", stderr: "ignore" }));
      await until(() => namesBeside(path).some((name) => name.includes(".partial-")));
      child.kill(signal);
      await child.exited;
      expect(await idsIn(path)).toEqual([1, 2, 3, 4, 5]);
      const left = namesBeside(path).filter((name) => name.includes(".partial-"));
      expect(left.length).toBe(signal === "SIGKILL" ? 1 : 0);
      expect((await on(path, "restore", backup, "--force")).exitCode).toBe(0);
    });
  }
});

describe("the recovery drill", () => {
  it("brings back every plant that was answered before the backup, and none that nobody asked for", async () => {
    const path = newPath();
    const backup = newPath("backup.db");
    const token = await createToken(`sqlite:${path}`, "ann");
    const program = await start(path);
    const asked = new Map<bigint, NewPlant>();
    const [answered, doomed, gone] = [new Map<bigint, NewPlant>(), new Set<bigint>(), new Set<bigint>()];
    const writing = write(clientOf(program, token), { asked, answered, doomed, gone });
    await until(() => answered.size >= 1_000);

    const [before, goneBefore] = [new Map(answered), new Set(gone)];
    const made = await on(path, "backup", backup);
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    const doomedMeanwhile = new Set(doomed);
    const later = answered.size + 500;
    await until(() => answered.size >= later);
    const lateToken = await createToken(`sqlite:${path}`, "ann");
    program.process.kill("SIGKILL");
    await writing;
    await program.process.exited;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });

    expect(await on(path, "restore", backup)).toMatchObject({ exitCode: 0, stderr: "" });
    const again = await start(path);
    const client = clientOf(again, token);
    const found = await plantsOf(client);
    const lost = [...before.keys()].filter((id) => !found.has(id) && !doomedMeanwhile.has(id));
    expect(lost).toEqual([]);
    expect([...goneBefore].filter((id) => found.has(id))).toEqual([]);
    for (const [id, plant] of found) expect(plant).toStrictEqual(asked.get(id) as NewPlant);
    expect(made.stdout).toStartWith(`${found.size} plants of 1 owner, 1 token backed up: `);
    expect(found.size).toBeLessThan(answered.size);
    await expect(clientOf(again, lateToken).createPlant({ id: 1n, name: "Fern" })).rejects.toMatchObject({
      status: 401,
    });
    for (const [id, plant] of answered) {
      if (!found.has(id) && !gone.has(id)) await client.createPlant(plant, { idempotencyKey: `key-${id}` });
    }
    expect(await on(path, "check")).toMatchObject({ exitCode: 0, stderr: "" });
  });

  interface Written {
    readonly asked: Map<bigint, NewPlant>;
    readonly answered: Map<bigint, NewPlant>;
    /** Of which the deletion was asked for, and answered. */
    readonly doomed: Set<bigint>;
    readonly gone: Set<bigint>;
  }

  /** Creates by many at once, each followed at times by the deletion of an earlier plant, until the server is gone. */
  async function write(client: PlantStoreClient, { asked, answered, doomed, gone }: Written): Promise<void> {
    let next = 0n;
    const writers = Array.from({ length: 24 }, async () => {
      for (;;) {
        const id = next++;
        const plant = { id, name: `plant ${id}`, ...(id % 2n === 0n ? {} : { tag: `tag ${id % 7n}` }) };
        asked.set(id, plant);
        await client.createPlant(plant, { idempotencyKey: `key-${id}` });
        answered.set(id, plant);
        if (id % 5n !== 0n) continue;
        doomed.add(id);
        await client.deletePlant(id);
        gone.add(id);
      }
    });
    await Promise.allSettled(writers);
  }
});
