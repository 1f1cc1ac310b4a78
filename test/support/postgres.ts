import { randomBytes } from "node:crypto";
import { SQL } from "bun";
import { onCleanUp } from "./cleanup.ts";
import { type Cluster, type ClusterOptions, startCluster } from "./cluster.ts";

/** A database for one test. */
export interface PostgresDatabase {
  readonly url: string;
  /** Runs statements as the superuser, on a separate connection. */
  query<Row>(sql: string): Promise<Row[]>;
  /** Runs `use` while another transaction holds the locks that `sql` takes; it is rolled back afterwards. */
  withLocks<Result>(sql: string, use: () => Promise<Result>): Promise<Result>;
  drop(): Promise<void>;
}

/** A PostgreSQL server that this process started. It stops when this process ends, even by SIGKILL. */
export interface PostgresServer {
  /** URL of the database `postgres`. */
  readonly url: string;
  newDatabase(): Promise<PostgresDatabase>;
  /** Sends a signal to the postmaster. */
  kill(signal: NodeJS.Signals): void;
  /** Suspends all processes of the server, with their connections open. Returns a function that resumes them. */
  suspend(): Promise<() => void>;
  /** Restarts a server that has exited, with the same data and address. */
  restart(options?: { readonly asStandby: boolean }): Promise<void>;
  /** Starts a synchronous standby: a commit is acknowledged once the standby has it on disk. */
  startStandby(): Promise<PostgresServer>;
  /** Promotes this standby to primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

let shared: Promise<string> | undefined;

/** Creates a database on the server at PLANTSTORE_TEST_POSTGRES, or else on one that the first call starts. */
export async function newPostgresDatabase(): Promise<PostgresDatabase> {
  shared ??= Promise.resolve(process.env["PLANTSTORE_TEST_POSTGRES"] ?? startCluster().then(({ url }) => url));
  return createDatabase(await shared);
}

/** Starts a separate server, for tests that kill or configure it. */
export async function startPostgres(options: ClusterOptions = {}): Promise<PostgresServer> {
  return serverOf(await startCluster(options));
}

function serverOf(cluster: Cluster): PostgresServer {
  const { url } = cluster;
  const signal = (pids: readonly number[], name: NodeJS.Signals) => {
    for (const pid of pids) process.kill(pid, name);
  };
  return {
    url,
    newDatabase: () => createDatabase(url),
    kill: (name) => signal([cluster.pid()], name),
    async suspend() {
      const rows = await execute<{ pid: number }>(
        url,
        "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()",
      );
      const pids = [cluster.pid(), ...rows.map(({ pid }) => pid)];
      signal(pids, "SIGSTOP");
      const resume = () => signal(pids, "SIGCONT");
      const cancel = onCleanUp(resume);
      return () => {
        cancel();
        resume();
      };
    },
    restart: cluster.start,
    async startStandby() {
      const standby = await cluster.startStandby("standby");
      await execute(url, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
      await execute(url, "SELECT pg_reload_conf()");
      while ((await execute(url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0);
      return serverOf(standby);
    },
    async promote() {
      await execute(url, "SELECT pg_promote()");
    },
    stop: cluster.stop,
  };
}

async function createDatabase(serverUrl: string): Promise<PostgresDatabase> {
  const name = `plantstore_test_${randomBytes(8).toString("hex")}`;
  await execute(serverUrl, `CREATE DATABASE ${name} ENCODING 'UTF8' TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = name;
  return {
    url: url.href,
    query: (sql) => execute(url.href, sql),
    withLocks: (sql, use) => withLocks(url.href, sql, use),
    drop: async () => {
      await execute(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

async function execute<Row>(url: string, sql: string): Promise<Row[]> {
  const client = new SQL(url, { max: 1 });
  try {
    return await client.unsafe<Row[]>(sql);
  } finally {
    await client.close();
  }
}

async function withLocks<Result>(url: string, sql: string, use: () => Promise<Result>): Promise<Result> {
  const client = new SQL(url, { max: 1 });
  try {
    await client.unsafe(`BEGIN; ${sql}`);
    return await use();
  } finally {
    await client.close({ timeout: 0 });
  }
}
