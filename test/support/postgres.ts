import { SQL } from "bun";
import { onCleanUp } from "./cleanup.ts";
import { type Cluster, type ClusterOptions, startCluster } from "./cluster.ts";

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
  /** Of the server's own database. */
  readonly url: string;
  newDatabase(): Promise<PostgresDatabase>;
  /** Sends a signal to the server, as an operating system in need would. */
  kill(signal: NodeJS.Signals): void;
  /** Stops every process of the server where it stands, with all connections open; the result lets them go on. */
  freeze(): Promise<() => void>;
  /** Starts it again after its end, with the same data at the same address, on request as a standby. */
  restart(options?: { readonly asStandby: boolean }): Promise<void>;
  /** Starts a standby. From now on this server answers a commit once the standby has it on disk. */
  startStandby(): Promise<PostgresServer>;
  /** Makes this server, a standby, the primary. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

let databases = 0;
let shared: Promise<string> | undefined;

/** A new database on the server of this test file or run, or on the one that PLANTSTORE_TEST_POSTGRES names by its URL. */
export async function newPostgresDatabase(): Promise<PostgresDatabase> {
  shared ??= Promise.resolve(process.env["PLANTSTORE_TEST_POSTGRES"] ?? startCluster().then(({ url }) => url));
  return makeDatabase(await shared);
}

/** Starts one more server, for tests that do it harm or want it otherwise. */
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
    newDatabase: () => makeDatabase(url),
    kill: (name) => signal([cluster.pid()], name),
    async freeze() {
      const rows = await ask<{ pid: number }>(url, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
      const pids = [cluster.pid(), ...rows.map(({ pid }) => pid)];
      signal(pids, "SIGSTOP");
      const thaw = () => signal(pids, "SIGCONT");
      const cancel = onCleanUp(thaw);
      return () => {
        cancel();
        thaw();
      };
    },
    restart: cluster.start,
    async startStandby() {
      const standby = await cluster.startStandby("standby");
      await ask(url, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
      await ask(url, "SELECT pg_reload_conf()");
      while ((await ask(url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0);
      return serverOf(standby);
    },
    async promote() {
      await ask(url, "SELECT pg_promote()");
    },
    stop: cluster.stop,
  };
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
