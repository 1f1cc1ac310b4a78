import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import {
  closeSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { PlantStoreClient, type PlantStoreError } from "../../../src/client/index.ts";
import { openStorage } from "../../../src/storage/open.ts";
import { createToken, run } from "../../support/program.ts";
import { useServerProcesses } from "../../support/server-processes.ts";
import { temporaryFolder } from "../../support/service.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const FAULTY_DISK = join(import.meta.dir, "../../support/faulty-disk.ts");
const PAGE_BYTES = 4_096;
const folder = temporaryFolder();
afterAll(() => folder.remove());

let files = 0;
const newPath = (): string => join(folder.path, `plants-${++files}.db`);

const startServerProcess = useServerProcesses();

/** Starts a server with a client that does not retry. `fail` begins the fault, `recover` ends it. */
async function start(path: string, fault?: string) {
  const token = await createToken(`sqlite:${path}`, "ann");
  const command = (args: readonly string[]) => [process.execPath, FAULTY_DISK, fault ?? "", path, ...args];
  const server = await startServerProcess(
    ["--database", `sqlite:${path}`],
    {},
    fault === undefined ? undefined : command,
  );
  const client = new PlantStoreClient({ url: server.url, token, attempts: 1 });
  return {
    server,
    token,
    client,
    create: (id: number, name = "Fern") =>
      client.createPlant({ id: BigInt(id), name }, { idempotencyKey: `key-${id}` }),
    async ids() {
      const ids: number[] = [];
      for await (const { id } of client.listPlants()) ids.push(Number(id));
      return ids;
    },
    async fail() {
      server.process.kill("SIGUSR1");
      await server.printed(/the disk fails/);
    },
    async recover() {
      server.process.kill("SIGUSR2");
      await server.printed(/the disk recovers/);
    },
  };
}

const outcomeOf = (call: Promise<unknown>): Promise<PlantStoreError | "done"> =>
  call.then(
    () => "done",
    (error) => error,
  );
const UNAVAILABLE = { status: 503, number: 50300, code: "unavailable" };

describe("a full disk", () => {
  it("returns 503 for writes and serves reads; writes succeed again without a restart", async () => {
    const path = newPath();
    const { server, token, client, create, ids, fail, recover } = await start(path, "full");
    await create(1);
    await fail();
    for (const write of [() => create(2), () => client.deletePlant(1n)]) {
      expect(await outcomeOf(write())).toMatchObject(UNAVAILABLE);
    }
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${server.url}/plants/1`, { method: "DELETE", headers });
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await ids()).toEqual([1]);
    await recover();
    expect([await outcomeOf(create(2)), await outcomeOf(client.deletePlant(1n))]).toEqual(["done", "done"]);
    expect(await ids()).toEqual([2]);
  });

  it("loses no acknowledged write and applies none partially when it fills up repeatedly", async () => {
    const path = newPath();
    const { create, ids, fail, recover } = await start(path, "full");
    await create(0);
    const [done, failed] = [new Set<number>(), new Set<number>()];
    let next = 1;
    let isOver = false;
    const writers = Array.from({ length: 24 }, async () => {
      while (!isOver) {
        const id = next++;
        const outcome = await outcomeOf(create(id, `plant ${id}`.repeat(50)));
        if (outcome !== "done") expect(outcome).toMatchObject(UNAVAILABLE);
        (outcome === "done" ? done : failed).add(id);
      }
    });
    for (let round = 1; round <= 3; round++) {
      await until(() => done.size >= round * 200);
      await fail();
      await until(() => failed.size >= round * 200);
      await recover();
    }
    isOver = true;
    await Promise.all(writers);
    const kept = new Set(await ids());
    expect([...done].filter((id) => !kept.has(id))).toEqual([]);
    expect([...kept].filter((id) => id >= next)).toEqual([]);
    for (const id of failed) expect(await outcomeOf(create(id, `plant ${id}`.repeat(50)))).toBe("done");
    expect((await ids()).length).toBe(next);
  });

  it("does not prevent the shutdown, after which the next server has every acknowledged write", async () => {
    const path = newPath();
    const { server, create, fail } = await start(path, "full");
    for (let id = 1; id <= 100; id++) await create(id, "Fern ".repeat(200));
    await fail();
    expect(await server.stop()).toBe(0);
    expect((await (await start(path)).ids()).length).toBe(100);
  });
});

describe("a server after a failed fsync", () => {
  it("returns 503 for the queued writes and exits when the WAL is affected", async () => {
    const path = newPath();
    const { server, create, fail } = await start(path, "lost-wal");
    await create(1);
    await fail();
    const outcomes = await Promise.all([2, 3, 4].map((id) => outcomeOf(create(id))));
    for (const outcome of outcomes) expect(outcome).toMatchObject(UNAVAILABLE);
    await server.process.exited;
    expect(server.process.signalCode).toBe("SIGKILL");
    await server.logged("SQLITE_IOERR_FSYNC");
    const again = await start(path);
    expect(await again.ids()).toEqual([1]);
    for (const id of [1, 2, 3, 4]) expect(await outcomeOf(again.create(id))).toBe("done");
  });

  it("exits when the database file is affected, and the next server recovers the file from the WAL", async () => {
    const path = newPath();
    const { server, create, fail } = await start(path, "lost-database");
    await create(0);
    await fail();
    const done: number[] = [0];
    let next = 1;
    // Four bytes per character: more than a page per plant, so that a checkpoint is soon due.
    const name = "\u{1f33f}".repeat(1_024);
    const writers = Array.from({ length: 24 }, async () => {
      for (;;) {
        const id = next++;
        if ((await outcomeOf(create(id, name))) !== "done") return;
        done.push(id);
      }
    });
    await Promise.all(writers);
    await server.process.exited;
    expect(server.process.signalCode).toBe("SIGKILL");
    await server.logged("the disk failed to store a write");
    const kept = new Set(await (await start(path)).ids());
    expect(done.filter((id) => !kept.has(id))).toEqual([]);
    expect([...kept].filter((id) => id >= next)).toEqual([]);
    expect(await run(["check", "--database", `sqlite:${path}`])).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe("the WAL of a killed server", () => {
  it("is rewritten and synced before it is used", async () => {
    const path = newPath();
    const { server, create } = await start(path);
    for (let id = 1; id <= 9; id++) await create(id);
    await server.stop("SIGKILL");
    const wal = readFileSync(`${path}-wal`);
    utimesSync(`${path}-wal`, 0, 0);
    const storage = await openStorage({ engine: "sqlite", file: path }, { forServer: true });
    expect(statSync(`${path}-wal`).mtimeMs).toBeGreaterThan(0);
    expect(readFileSync(`${path}-wal`).equals(wal)).toBe(true);
    expect((await storage.selectPlants("ann", { limit: 99 })).length).toBe(9);
    await storage.close();
  });

  for (const [state, damage] of [
    ["missing", (path: string) => rmSync(path)],
    ["empty", (path: string) => truncateSync(path)],
  ] as const) {
    it(`is kept when its database is ${state}`, async () => {
      const path = newPath();
      const { server, create } = await start(path);
      await create(1);
      await server.stop("SIGKILL");
      const bytes = readFileSync(path);
      damage(path);
      const { exitCode, stdout, stderr } = await run(["serve", "--database", `sqlite:${path}`, "--port", "0"]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(
        /^plantstore: the database .* is missing, but .*-wal shows that it was in use: .*plantstore restore.*\n$/,
      );
      writeFileSync(path, bytes);
      expect(await (await start(path)).ids()).toEqual([1]);
    });
  }
});

/** Returns the file offsets of the leaf pages of a table or an index. */
function leafOffsets(path: string, name: string): number[] {
  const db = new Database(path);
  const rows = db
    .query<{ pageno: number }, [string]>("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path")
    .all(name);
  db.close();
  return rows.map(({ pageno }) => (pageno - 1) * PAGE_BYTES);
}

/** Returns pseudorandom bytes, the same in every run. */
const noise = (length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, n) => Number(Bun.hash.crc32(`${n}`) & 0xff));

function overwrite(path: string, offset: number, bytes: Uint8Array): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, offset);
  closeSync(file);
}

/** Creates and closes a database with 4,000 plants of one owner, every other with a tag, and one plant of another. */
async function newDatabase(): Promise<string> {
  const path = newPath();
  const storage = await openStorage({ engine: "sqlite", file: path }, { forServer: true });
  await storage.insertPlant("bob", { id: 1n, name: "Fern" }, undefined);
  const plants = Array.from({ length: 4_000 }, (_, n) => ({
    id: BigInt(n),
    name: `plant ${n} of a garden`,
    ...(n % 2 === 0 ? {} : { tag: `tag ${n % 1_000}` }),
  }));
  await Promise.all(plants.map((plant) => storage.insertPlant("ann", plant, undefined)));
  await storage.close();
  return path;
}

describe("a damaged database", () => {
  const detectedAtStart: [description: string, damage: (path: string) => void][] = [
    ["noise in the header", (path) => overwrite(path, 0, noise(100))],
    ["noise in the schema", (path) => overwrite(path, 100, noise(PAGE_BYTES - 100))],
    [
      "only the first half of the file",
      (path) => truncateSync(path, Math.floor(statSync(path).size / 2 / PAGE_BYTES) * PAGE_BYTES),
    ],
    ["a file without its last page", (path) => truncateSync(path, statSync(path).size - PAGE_BYTES)],
    ["only the first 50 bytes", (path) => truncateSync(path, 50)],
    ["text instead of a database", (path) => writeFileSync(path, "Dear diary\n".repeat(1_000))],
  ];
  for (const [description, damage] of detectedAtStart) {
    it(`is rejected at the start with the remedy: ${description}`, async () => {
      const path = await newDatabase();
      damage(path);
      const bytes = readFileSync(path);
      for (const command of [["serve", "--port", "0", "--admin-port", "off"], ["token", "list"], ["check"]]) {
        const { exitCode, stdout, stderr } = await run([...command, "--database", `sqlite:${path}`]);
        expect({ command, exitCode, stdout }).toEqual({ command, exitCode: 1, stdout: "" });
        expect(stderr).toMatch(/plantstore: .*"plantstore restore.*\n$/);
      }
      expect(readFileSync(path).equals(bytes)).toBe(true);
    });
  }

  const leaf = (path: string, name: string) => leafOffsets(path, name)[5] as number;
  const detectedByReads: [description: string, damage: (path: string) => void, query: string][] = [
    ["noise over a leaf", (path) => overwrite(path, leaf(path, "plants"), noise(PAGE_BYTES)), ""],
    ["zeros over a leaf", (path) => overwrite(path, leaf(path, "plants"), new Uint8Array(PAGE_BYTES)), ""],
    ["noise over half a leaf", (path) => overwrite(path, leaf(path, "plants") + 2_048, noise(2_048)), ""],
    ["noise over a leaf after its header", (path) => overwrite(path, leaf(path, "plants") + 16, noise(4_080)), ""],
    ["a file truncated within its last page", (path) => truncateSync(path, statSync(path).size - 1_000), ""],
    [
      "noise over a leaf of the tag index",
      (path) => overwrite(path, leaf(path, "plants_by_tag"), noise(PAGE_BYTES)),
      "tag",
    ],
  ];
  for (const [description, damage, query] of detectedByReads) {
    it(`returns 500 for a read of the damaged part and logs the remedy: ${description}`, async () => {
      const path = await newDatabase();
      damage(path);
      const { server, client } = await start(path);
      const token = await createToken(`sqlite:${path}`, "bob");
      const tags = query === "" ? [undefined] : Array.from({ length: 500 }, (_, n) => `tag ${2 * n + 1}`);
      const outcomes: (PlantStoreError | "done")[] = [];
      for (const tag of tags) outcomes.push(await outcomeOf(client.listPage({ limit: 10_000, tag })));
      const failures = outcomes.filter((outcome) => outcome !== "done");
      expect(failures.length).toBeGreaterThan(0);
      for (const failure of failures) expect(failure).toMatchObject({ status: 500, number: 50000 });
      await server.logged("plantstore restore");
      const others = await fetch(`${server.url}/plants?fields=id`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      expect(await others.text()).toBe('[{"id":1}]');
      const { exitCode, stderr } = await run(["check", "--database", `sqlite:${path}`]);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^plantstore: .*plantstore restore/m);
    });
  }
});
