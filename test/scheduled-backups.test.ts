import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToken, figuresOf, type Program, run } from "./support/program.ts";
import { temporaryFolder } from "./support/service.ts";
import { startPrograms } from "./support/started.ts";

setDefaultTimeout(60_000);
const folder = temporaryFolder();
afterAll(() => folder.remove());

const startProgram = startPrograms();

let databases = 0;

/** A server on a new database that backs it up into a folder of its own. */
async function start(...args: string[]) {
  const path = join(folder.path, `plants-${++databases}.db`);
  const backups = join(folder.path, `backups-${databases}`);
  const token = await createToken(`sqlite:${path}`, "ann");
  const launch = async () => {
    return await startProgram(["--database", `sqlite:${path}`, "--backup-dir", backups, ...args]);
  };
  return { path, backups, token, launch };
}

const nameAt = (timeMs: number): string => `plantstore-${new Date(timeMs).toISOString().replace(/[-:]|\.\d+/g, "")}.db`;

/** Waits until so many lines of the log have this message; the time limit of the test is the bound. */
async function logged(program: Program, msg: string, count = 1): Promise<Record<string, unknown>[]> {
  for (;;) {
    const lines = program.log().filter((line) => line["msg"] === msg);
    if (lines.length >= count) return lines;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("serve --backup-dir", () => {
  it("makes a sound backup at the start, in a folder that only its owner may enter, and counts it", async () => {
    const { backups, launch } = await start();
    const program = await launch();
    const [line] = await logged(program, "backup made");
    const [name = "", ...others] = readdirSync(backups);
    expect([name, others]).toEqual([expect.stringMatching(/^plantstore-\d{8}T\d{6}Z\.db$/), []]);
    expect(line).toMatchObject({ level: "info", file: join(backups, name) });
    expect([statSync(backups).mode & 0o777, statSync(join(backups, name)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect((await run(["check", "--database", `sqlite:${join(backups, name)}`])).exitCode).toBe(0);
    const text = await figuresOf(program);
    expect(text).toMatch(/^plantstore_backups_total\{outcome="made"\} 1$/m);
    const seconds = Number(/^plantstore_newest_backup_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
    expect(nameAt(seconds * 1_000)).toBe(name);
    expect(await program.stop()).toBe(0);
  });

  it("keeps the newest ones, and deletes no file but its own", async () => {
    const { backups, launch } = await start("--backup-every", "1s", "--backup-keep", "2");
    mkdirSync(backups);
    const old = [nameAt(0), nameAt(Date.UTC(2020, 1, 1))];
    const foreign = ["plantstore-20200101T000000Z.db.gz", "plantstore-2020.db", "plants.db", `x${nameAt(0)}`];
    for (const name of [...old, ...foreign]) writeFileSync(join(backups, name), "");
    mkdirSync(join(backups, `${nameAt(0)}.partial-AbCdEf`));
    writeFileSync(join(backups, `${nameAt(0)}.partial-AbCdEf`, "left.db"), "left by one that was killed");
    const program = await launch();
    const made = (await logged(program, "backup made", 3)).map(({ file }) => String(file).slice(backups.length + 1));
    await program.stop();
    const left = readdirSync(backups);
    expect(left.filter((name) => foreign.includes(name)).sort()).toEqual(foreign.sort());
    const own = left.filter((name) => !foreign.includes(name));
    expect(own.length).toBe(2);
    expect(own).toContain(made.at(-1) as string);
    for (const name of own) expect(name > (made[0] as string)).toBe(true);
  });

  it("waits at the start until the newest is old enough, and tells its time", async () => {
    const { backups, launch } = await start("--backup-every", "20d");
    mkdirSync(backups);
    const dueMs = Date.now() + 5_000;
    const recent = nameAt(dueMs - 20 * 86_400_000);
    writeFileSync(join(backups, recent), "");
    const program = await launch();
    const seconds = Number(/^plantstore_newest_backup_timestamp_seconds (\S+)$/m.exec(await figuresOf(program))?.[1]);
    expect(nameAt(seconds * 1_000)).toBe(recent);
    const [line] = await logged(program, "backup made");
    expect(String(line?.["file"]) >= join(backups, nameAt(dueMs - 1_000))).toBe(true);
  });

  for (const [what, timeMs] of [
    ["is too old", Date.UTC(2020, 1, 1)],
    ["is from the future", Date.UTC(2999, 1, 1)],
  ] as const) {
    it(`makes one at the start when the newest ${what}, and keeps the one that it made`, async () => {
      const { backups, launch } = await start("--backup-keep", "1");
      mkdirSync(backups);
      writeFileSync(join(backups, nameAt(timeMs)), "");
      const program = await launch();
      const [line] = await logged(program, "backup made");
      await program.stop();
      expect(readdirSync(backups).map((name) => join(backups, name))).toEqual([String(line?.["file"])]);
    });
  }

  it("logs and counts a backup that fails, goes on serving, and tries again", async () => {
    const { backups, token, launch } = await start("--backup-every", "1s");
    writeFileSync(backups, "a file where the folder should be");
    const program = await launch();
    const [line] = await logged(program, "backup failed");
    expect(line).toMatchObject({ level: "error", err: { message: expect.stringContaining(backups) } });
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${program.url}/plants`, { headers })).status).toBe(200);
    expect(await figuresOf(program)).toMatch(/^plantstore_backups_total\{outcome="failed"\} [1-9]/m);
    rmSync(backups);
    await logged(program, "backup made");
    expect(readdirSync(backups).length).toBeGreaterThan(0);
  });

  it("logs the message of the command when the copy fails", async () => {
    const { path, launch } = await start("--backup-every", "1s");
    const program = await launch();
    await logged(program, "backup made");
    linkSync(path, `${path}.link`);
    const [line] = await logged(program, "backup failed");
    expect(line?.["err"]).toMatchObject({ message: expect.stringMatching(/^plantstore: .* has 2 hard links/) });
  });

  it("gives a backup up when the server stops, and leaves nothing of it", async () => {
    const { path, backups, launch } = await start("--drain", "0s");
    const db = new Database(path);
    db.run(
      `WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 500000)
       INSERT INTO plants SELECT 'ann', id, 'plant ' || id, 'tag', NULL FROM ids`,
    );
    db.close();
    const program = await launch();
    while (!existsSync(backups) || readdirSync(backups).length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await program.stop()).toBe(0);
    expect(readdirSync(backups)).toEqual([]);
    expect(program.log().map(({ msg }) => msg)).toEqual(["serving", "stopping", "stopped"]);
  });

  it("makes no backup without the setting", async () => {
    const path = join(folder.path, "alone.db");
    const program = await startProgram(["--database", `sqlite:${path}`]);
    expect(await figuresOf(program)).not.toMatch(/^plantstore_backups_total\{.*\} [1-9]/m);
  });
});
