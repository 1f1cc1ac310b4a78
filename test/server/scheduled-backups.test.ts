import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToken, fetchMetrics, type Program, run } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";
import { startPrograms } from "../support/start-programs.ts";

setDefaultTimeout(60_000);
const folder = temporaryFolder();
afterAll(() => folder.remove());

const startProgram = startPrograms();

let databases = 0;

/** Creates a database, a backup folder and a function that starts a server with both. */
async function prepare(...args: string[]) {
  const path = join(folder.path, `plants-${++databases}.db`);
  const backups = join(folder.path, `backups-${databases}`);
  const token = await createToken(`sqlite:${path}`, "ann");
  const launch = async () => {
    return await startProgram(["--database", `sqlite:${path}`, "--backup-dir", backups, ...args]);
  };
  return { path, backups, token, launch };
}

const nameAt = (timeMs: number): string => `plantstore-${new Date(timeMs).toISOString().replace(/[-:]|\.\d+/g, "")}.db`;

/** Waits until `count` log lines have this message, or the test times out. */
async function logged(program: Program, msg: string, count = 1): Promise<Record<string, unknown>[]> {
  for (;;) {
    const lines = program.log().filter((line) => line["msg"] === msg);
    if (lines.length >= count) return lines;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("serve --backup-dir", () => {
  it("logs and counts a failed backup, keeps serving and retries", async () => {
    const { backups, token, launch } = await prepare("--backup-every", "1s");
    writeFileSync(backups, "a file instead of a folder");
    const program = await launch();
    const [line] = await logged(program, "backup failed");
    expect(line).toMatchObject({ level: "error", err: { message: expect.stringContaining(backups) } });
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${program.url}/plants`, { headers })).status).toBe(200);
    expect(await fetchMetrics(program)).toMatch(/^plantstore_backups_total\{outcome="failed"\} [1-9]/m);
    rmSync(backups);
    await logged(program, "backup completed");
    expect(readdirSync(backups).length).toBeGreaterThan(0);
  });

  it("logs the error message of the backup command", async () => {
    const { path, launch } = await prepare("--backup-every", "1s");
    const program = await launch();
    await logged(program, "backup completed");
    linkSync(path, `${path}.link`);
    const [line] = await logged(program, "backup failed");
    expect(line?.["err"]).toMatchObject({ message: expect.stringMatching(/^plantstore: .* has 2 hard links/) });
  });

  it("creates a valid, private backup when the server starts, and reports it in the metrics", async () => {
    const { backups, launch } = await prepare();
    const program = await launch();
    const [line] = await logged(program, "backup completed");
    const [name = "", ...others] = readdirSync(backups);
    expect([name, others]).toEqual([expect.stringMatching(/^plantstore-\d{8}T\d{6}Z\.db$/), []]);
    expect(line).toMatchObject({ level: "info", file: join(backups, name) });
    expect([statSync(backups).mode & 0o777, statSync(join(backups, name)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect((await run(["check", "--database", `sqlite:${join(backups, name)}`])).exitCode).toBe(0);
    const text = await fetchMetrics(program);
    expect(text).toMatch(/^plantstore_backups_total\{outcome="made"\} 1$/m);
    const seconds = Number(/^plantstore_newest_backup_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
    expect(nameAt(seconds * 1_000)).toBe(name);
    expect(await program.stop()).toBe(0);
  });

  it("keeps the newest --backup-keep backups and deletes no other files", async () => {
    const { backups, launch } = await prepare("--backup-every", "1s", "--backup-keep", "2");
    mkdirSync(backups);
    const old = [nameAt(0), nameAt(Date.UTC(2020, 1, 1))];
    const foreign = ["plantstore-20200101T000000Z.db.gz", "plantstore-2020.db", "plants.db", `x${nameAt(0)}`];
    for (const name of [...old, ...foreign]) writeFileSync(join(backups, name), "");
    mkdirSync(join(backups, `${nameAt(0)}.partial-AbCdEf`));
    writeFileSync(join(backups, `${nameAt(0)}.partial-AbCdEf`, "left.db"), "from a killed backup");
    const program = await launch();
    const created = (await logged(program, "backup completed", 3)).map(({ file }) =>
      String(file).slice(backups.length + 1),
    );
    await program.stop();
    const names = readdirSync(backups);
    expect(names.filter((name) => foreign.includes(name)).sort()).toEqual(foreign.sort());
    const backupsLeft = names.filter((name) => !foreign.includes(name));
    expect(backupsLeft.length).toBe(2);
    expect(backupsLeft).toContain(created.at(-1) as string);
    for (const name of backupsLeft) expect(name > (created[0] as string)).toBe(true);
  });

  it("creates the first backup when the newest one is --backup-every old, and reports the newest one's time", async () => {
    const { backups, launch } = await prepare("--backup-every", "20d");
    mkdirSync(backups);
    const dueMs = Date.now() + 5_000;
    const recent = nameAt(dueMs - 20 * 86_400_000);
    writeFileSync(join(backups, recent), "");
    const program = await launch();
    const seconds = Number(
      /^plantstore_newest_backup_timestamp_seconds (\S+)$/m.exec(await fetchMetrics(program))?.[1],
    );
    expect(nameAt(seconds * 1_000)).toBe(recent);
    const [line] = await logged(program, "backup completed");
    expect(String(line?.["file"]) >= join(backups, nameAt(dueMs - 1_000))).toBe(true);
  });

  for (const [condition, timeMs] of [
    ["is too old", Date.UTC(2020, 1, 1)],
    ["is from the future", Date.UTC(2999, 1, 1)],
  ] as const) {
    it(`creates a backup at startup when the newest one ${condition}, and keeps the new one`, async () => {
      const { backups, launch } = await prepare("--backup-keep", "1");
      mkdirSync(backups);
      writeFileSync(join(backups, nameAt(timeMs)), "");
      const program = await launch();
      const [line] = await logged(program, "backup completed");
      await program.stop();
      expect(readdirSync(backups).map((name) => join(backups, name))).toEqual([String(line?.["file"])]);
    });
  }

  it("aborts a running backup when the server stops, and removes its files", async () => {
    const { path, backups, launch } = await prepare("--drain", "0s");
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

  it("creates no backups by default", async () => {
    const path = join(folder.path, "no-backups.db");
    const program = await startProgram(["--database", `sqlite:${path}`]);
    expect(await fetchMetrics(program)).not.toMatch(/^plantstore_backups_total\{.*\} [1-9]/m);
  });
});
