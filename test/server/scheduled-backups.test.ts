import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToken, fetchMetrics, run, type ServerProcess } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";

setDefaultTimeout(60_000);
const folder = temporaryFolder();
afterAll(() => folder.remove());

const startServerProcess = useServerProcesses();

let databases = 0;

/** Creates a database, a backup folder and a function that starts a server with both. */
async function prepare(...args: string[]) {
  const path = join(folder.path, `plants-${++databases}.db`);
  const backups = join(folder.path, `backups-${databases}`);
  const token = await createToken(`sqlite:${path}`, "ann");
  const launch = async () => {
    return await startServerProcess(["--database", `sqlite:${path}`, "--backup-dir", backups, ...args]);
  };
  return { path, backups, token, launch };
}

const nameAt = (timeMs: number): string => `plantstore-${new Date(timeMs).toISOString().replace(/[-:]|\.\d+/g, "")}.db`;

/** Waits until `count` log lines have this message, or the test times out. */
async function logged(server: ServerProcess, msg: string, count = 1): Promise<Record<string, unknown>[]> {
  for (;;) {
    const lines = server.log().filter((line) => line["msg"] === msg);
    if (lines.length >= count) return lines;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("serve --backup-dir", () => {
  it("logs and counts a failed backup, keeps serving and retries", async () => {
    const { backups, token, launch } = await prepare("--backup-every", "1s");
    writeFileSync(backups, "a file instead of a folder");
    const server = await launch();
    const [line] = await logged(server, "backup failed");
    expect(line).toMatchObject({ level: "error", err: { message: expect.stringContaining(backups) } });
    const headers = { Authorization: `Bearer ${token}` };
    expect((await fetch(`${server.url}/plants`, { headers })).status).toBe(200);
    expect(await fetchMetrics(server)).toMatch(/^plantstore_backups_total\{outcome="failed"\} [1-9]/m);
    rmSync(backups);
    await logged(server, "backup completed");
    expect(readdirSync(backups).length).toBeGreaterThan(0);
  });

  it("logs the error message of the backup command", async () => {
    const { path, launch } = await prepare("--backup-every", "1s");
    const server = await launch();
    await logged(server, "backup completed");
    linkSync(path, `${path}.link`);
    const [line] = await logged(server, "backup failed");
    expect(line?.["err"]).toMatchObject({ message: expect.stringMatching(/^plantstore: .* has 2 hard links/) });
  });

  it("creates a valid, private backup when the server starts, and reports it in the metrics", async () => {
    const { backups, launch } = await prepare();
    const server = await launch();
    const [line] = await logged(server, "backup completed");
    const [name = "", ...others] = readdirSync(backups);
    expect([name, others]).toEqual([expect.stringMatching(/^plantstore-\d{8}T\d{6}Z\.db$/), []]);
    expect(line).toMatchObject({ level: "info", file: join(backups, name) });
    expect([statSync(backups).mode & 0o777, statSync(join(backups, name)).mode & 0o777]).toEqual([0o700, 0o600]);
    expect((await run(["check", "--database", `sqlite:${join(backups, name)}`])).exitCode).toBe(0);
    const text = await fetchMetrics(server);
    expect(text).toMatch(/^plantstore_backups_total\{outcome="made"\} 1$/m);
    const seconds = Number(/^plantstore_newest_backup_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
    expect(nameAt(seconds * 1_000)).toBe(name);
    expect(await server.stop()).toBe(0);
  });

  it("keeps the newest --backup-keep backups and deletes no other files", async () => {
    const { backups, launch } = await prepare("--backup-every", "1s", "--backup-keep", "2");
    mkdirSync(backups);
    const old = [nameAt(0), nameAt(Date.UTC(2020, 1, 1))];
    const foreign = ["plantstore-20200101T000000Z.db.gz", "plantstore-2020.db", "plants.db", `x${nameAt(0)}`];
    for (const name of [...old, ...foreign]) writeFileSync(join(backups, name), "");
    mkdirSync(join(backups, `${nameAt(0)}.partial-AbCdEf`));
    writeFileSync(join(backups, `${nameAt(0)}.partial-AbCdEf`, "left.db"), "from a killed backup");
    const server = await launch();
    const created = (await logged(server, "backup completed", 3)).map(({ file }) =>
      String(file).slice(backups.length + 1),
    );
    await server.stop();
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
    const server = await launch();
    const seconds = Number(/^plantstore_newest_backup_timestamp_seconds (\S+)$/m.exec(await fetchMetrics(server))?.[1]);
    expect(nameAt(seconds * 1_000)).toBe(recent);
    const [line] = await logged(server, "backup completed");
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
      const server = await launch();
      const [line] = await logged(server, "backup completed");
      await server.stop();
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
    const server = await launch();
    while (!existsSync(backups) || readdirSync(backups).length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await server.stop()).toBe(0);
    expect(readdirSync(backups)).toEqual([]);
    expect(server.log().map(({ msg }) => msg)).toEqual(["serving", "stopping", "stopped"]);
  });

  it("creates no backups by default", async () => {
    const path = join(folder.path, "no-backups.db");
    const server = await startServerProcess(["--database", `sqlite:${path}`]);
    expect(await fetchMetrics(server)).not.toMatch(/^plantstore_backups_total\{.*\} [1-9]/m);
  });
});
