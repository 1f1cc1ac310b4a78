import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PlantStoreClient } from "../../../src/client/index.ts";
import { createToken, run, type ServerProcess } from "../../support/program.ts";
import { useServerProcesses } from "../../support/server-processes.ts";
import { temporaryFolder } from "../../support/service.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder.remove());

let folders = 0;
/** Returns the path of a missing database in a new folder. */
function newPath(): string {
  const path = join(folder.path, `${++folders}`, "plants.db");
  mkdirSync(dirname(path));
  return path;
}

const startServerProcess = useServerProcesses();

/** Starts a server and creates nine plants, which are stored only in the WAL. */
async function start(path: string) {
  const token = await createToken(`sqlite:${path}`, "ann");
  const server = await startServerProcess(["--database", `sqlite:${path}`]);
  const client = new PlantStoreClient({ url: server.url, token, attempts: 1 });
  const create = (id: number) => client.createPlant({ id: BigInt(id), name: "Fern ".repeat(200) });
  for (let id = 1; id <= 9; id++) await create(id);
  return { server, token, create };
}

async function idsIn(path: string, token: string): Promise<number[]> {
  const server = await startServerProcess(["--database", `sqlite:${path}`]);
  const ids: number[] = [];
  for await (const { id } of new PlantStoreClient({ url: server.url, token }).listPlants()) ids.push(Number(id));
  await server.stop();
  return ids;
}

const CREATED_IDS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

async function expectKilled(server: ServerProcess, message: RegExp): Promise<void> {
  await server.process.exited;
  expect(server.process.signalCode).toBe("SIGKILL");
  await server.logged('"level":"fatal"');
  const messages = server.log().flatMap(({ err }) => (err as { message: string } | undefined)?.message ?? []);
  expect(messages.at(-1)).toMatch(message);
}

/** Replaces the database at `path` with another valid one. Moves the previous one to `away`, if given. */
async function replaceDatabase(path: string, away?: string): Promise<void> {
  const other = newPath();
  await createToken(`sqlite:${other}`, "bob");
  if (away !== undefined) renameSync(path, away);
  renameSync(other, path);
}

function replaceFile(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

describe("a server after a change of its files", () => {
  const GONE = "was moved or deleted while it was in use";
  const REPLACED = "was replaced by another file while it was in use";
  const changes: [description: string, change: (path: string) => void | Promise<void>, message: string][] = [
    [
      "a moved database",
      (path) => renameSync(path, `${path}.away`),
      `database file .*/plants.db ${GONE}: move .* back`,
    ],
    ["a deleted database", (path) => rmSync(path), `database file .*/plants.db ${GONE}: .*plantstore restore`],
    [
      "a replaced database",
      (path) => replaceDatabase(path),
      `database file .* ${REPLACED}: .* WAL is now .*/plants.db-wal.replaced-`,
    ],
    [
      "a truncated database",
      (path) => truncateSync(path, 4_096),
      "database file .* was truncated to 4096 bytes .*restore",
    ],
    [
      "a deleted WAL",
      (path) => rmSync(`${path}-wal`),
      `WAL file .*/plants.db-wal ${GONE}: .*written back: start again`,
    ],
    [
      "a database that is moved and replaced by a symbolic link to it",
      (path) => {
        renameSync(path, `${path}.away`);
        symlinkSync(`${path}.away`, path);
      },
      `database file .*/plants.db ${REPLACED}`,
    ],
    ["a replaced WAL", (path) => replaceFile(`${path}-wal`), `WAL file .*-wal ${REPLACED}: .*plantstore check`],
    [
      "a WAL truncated to 0 bytes",
      (path) => truncateSync(`${path}-wal`),
      "WAL file .*-wal was truncated to 0 bytes .*restore",
    ],
    [
      "a WAL truncated to 5,000 bytes",
      (path) => truncateSync(`${path}-wal`, 5_000),
      "WAL file .*-wal was truncated to 5000 bytes ",
    ],
    ["a deleted index of the WAL", (path) => rmSync(`${path}-shm`), `shared-memory file .*-shm ${GONE}: start again`],
    ["a replaced index of the WAL", (path) => replaceFile(`${path}-shm`), `shared-memory file .*-shm ${REPLACED}`],
    ["a deleted lock", (path) => rmSync(`${path}.server-lock`), `lock file .*.server-lock ${GONE}: .*one server`],
    ["a replaced lock", (path) => replaceFile(`${path}.server-lock`), `lock file .*.server-lock ${REPLACED}`],
    [
      "a deleted folder",
      (path) => rmSync(dirname(path), { recursive: true }),
      "the folder .* was moved or deleted .*back",
    ],
    [
      "a moved folder",
      (path) => renameSync(dirname(path), `${dirname(path)}.away`),
      "the folder .* was moved or deleted",
    ],
  ];
  for (const [description, change, message] of changes) {
    it(`acknowledges no more writes and exits: ${description}`, async () => {
      const path = newPath();
      const { server, create } = await start(path);
      await change(path);
      await expect(create(10)).rejects.toThrow();
      await expectKilled(server, new RegExp(message));
    });
  }

  const whenIdle = ["a moved database", "a WAL truncated to 0 bytes", "a replaced lock", "a deleted folder"];
  for (const [description, change, message] of changes.filter(([each]) => whenIdle.includes(each))) {
    it(`exits even if it is idle: ${description}`, async () => {
      const path = newPath();
      const { server } = await start(path);
      await change(path);
      await expectKilled(server, new RegExp(message));
    });
  }

  it("exits and loses no acknowledged write when the index of the WAL is truncated", async () => {
    const path = newPath();
    const { server, token } = await start(path);
    truncateSync(`${path}-shm`);
    // SQLite may read the index before the check does, which is a SIGBUS.
    expect(await server.process.exited).not.toBe(0);
    expect(await idsIn(path, token)).toEqual(CREATED_IDS);
  });

  it("exits without a checkpoint when it is shutting down", async () => {
    const path = newPath();
    const { server } = await start(path);
    rmSync(path);
    writeFileSync(path, "another file");
    server.process.kill("SIGTERM");
    await expectKilled(server, /database file .* was replaced/);
    expect(readFileSync(path, "utf8")).toBe("another file");
    expect(readdirSync(dirname(path))).toEqual(expect.arrayContaining([expect.stringMatching(/-wal\.replaced-/)]));
  });

  it.each([
    ["the WAL is", ["-wal"]],
    ["the WAL and its index are", ["-wal", "-shm"]],
    ["all files beside the database are", ["-wal", "-shm", ".server-lock"]],
  ])("loses no acknowledged write when %s deleted", async (_, suffixes) => {
    const path = newPath();
    const { server, token } = await start(path);
    for (const suffix of suffixes) rmSync(path + suffix);
    await server.process.exited;
    expect(await idsIn(path, token)).toEqual(CREATED_IDS);
    expect(readdirSync(dirname(path)).sort()).toEqual(["plants.db", "plants.db.server-lock"]);
  });

  it("loses no acknowledged write when the WAL is deleted while the database is moved away", async () => {
    const path = newPath();
    const { server, token } = await start(path);
    renameSync(path, `${path}.away`);
    rmSync(`${path}-wal`);
    await server.process.exited;
    renameSync(`${path}.away`, path);
    expect(await idsIn(path, token)).toEqual(CREATED_IDS);
  });

  it("does not recreate a database that was deleted while it was in use", async () => {
    const path = newPath();
    const { server } = await start(path);
    server.process.kill("SIGKILL");
    await server.process.exited;
    for (const suffix of ["", "-wal"]) rmSync(path + suffix);
    const { exitCode, stderr } = await run(["serve", "--database", `sqlite:${path}`, "--port", "0"]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${path} is missing, but ${path}-shm`)]);
  });

  it("leaves both databases valid when one replaces the other", async () => {
    const path = newPath();
    const { server, token } = await start(path);
    await replaceDatabase(path, `${path}.away`);
    await server.process.exited;
    const check = () => run(["check", "--database", `sqlite:${path}`]);
    expect(await check()).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("0 plants of 0 owners, 1 token"),
    });
    const wal = readdirSync(dirname(path)).find((name) => name.includes("-wal.replaced-")) as string;
    renameSync(`${path}.away`, path);
    renameSync(join(dirname(path), wal), `${path}-wal`);
    expect(await idsIn(path, token)).toEqual(CREATED_IDS);
    expect(await check()).toMatchObject({ exitCode: 0 });
  });

  it("continues when SQLite itself shrinks the files", async () => {
    const path = newPath();
    const { server, create } = await start(path);
    const other = new Database(path);
    other.run("PRAGMA busy_timeout = 5000");
    for (let id = 10; id <= 99; id++) await create(id);
    for (const sql of [
      "PRAGMA wal_checkpoint(TRUNCATE)",
      "DELETE FROM plants",
      "VACUUM",
      "PRAGMA wal_checkpoint(TRUNCATE)",
    ]) {
      other.run(sql);
      await create(100);
      other.run("DELETE FROM plants WHERE id = 100");
    }
    other.close();
    expect(await server.stop()).toBe(0);
  });
});

describe("a second server that starts after the lock file was deleted", () => {
  it("makes the first server exit", async () => {
    const path = newPath();
    const first = await start(path);
    rmSync(`${path}.server-lock`);
    const second = await startServerProcess(["--database", `sqlite:${path}`]);
    await expect(first.create(10)).rejects.toThrow();
    await expectKilled(first.server, /lock file .* was (moved or deleted|replaced).*one server/);
    const client = new PlantStoreClient({ url: second.url, token: first.token, attempts: 1 });
    await client.createPlant({ id: 11n, name: "Iris" });
    await second.stop();
    // Whether the first server committed plant 10 before it ended is unknown.
    expect((await idsIn(path, first.token)).filter((id) => id !== 10)).toEqual([...CREATED_IDS, 11]);
  });
});
