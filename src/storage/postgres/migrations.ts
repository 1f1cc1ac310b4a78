import type { ReservedSQL, TransactionSQL } from "bun";
import { newClient, reserve, type ServerOptions, sqlState } from "./connection.ts";

/** The timeout of a migration, including the wait for another process that migrates. */
const MIGRATION_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 10;

/** Step n migrates a database from version n to n + 1. Released steps never change. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE plants (
     owner TEXT COLLATE "C" NOT NULL,
     id BIGINT NOT NULL,
     name TEXT COLLATE "C" NOT NULL,
     tag TEXT COLLATE "C",
     idempotency_key TEXT COLLATE "C",
     PRIMARY KEY (owner, id)
   );
   CREATE INDEX plants_by_tag ON plants (owner, tag, id) WHERE tag IS NOT NULL;
   CREATE TABLE tokens (
     digest TEXT COLLATE "C" NOT NULL PRIMARY KEY,
     owner TEXT COLLATE "C" NOT NULL,
     scopes TEXT COLLATE "C" NOT NULL,
     label TEXT COLLATE "C",
     created_at BIGINT NOT NULL,
     expires_at BIGINT,
     last_used_at BIGINT,
     revoked_at BIGINT,
     is_first BOOLEAN UNIQUE
   );`,
];

/** For Citus (docs.citusdata.com, "Citus Utility Functions"): shards plants by owner and copies the other tables to all nodes. */
const DISTRIBUTION = `SET LOCAL citus.multi_shard_modify_mode TO 'sequential';
  SELECT create_reference_table('plantstore_schema');
  SELECT create_reference_table('tokens');
  SELECT create_distributed_table('plants', 'owner');`;

/** A table with one row, which contains the version and is locked during each step. */
const SCHEMA_TABLE = `
  CREATE TABLE IF NOT EXISTS plantstore_schema (only_row BOOLEAN NOT NULL PRIMARY KEY, version BIGINT NOT NULL);
  INSERT INTO plantstore_schema (only_row, version) VALUES (true, 0) ON CONFLICT (only_row) DO NOTHING;`;

/**
 * Migrates the database to this program's version, with one transaction per step. Processes may migrate it concurrently.
 * @throws Error when the database is of a newer version or of another program, or when `mustExist` is set and it has no
 * tables; then nothing is written
 */
export async function migrate({ url, queryTimeoutMs }: ServerOptions, mustExist: boolean): Promise<void> {
  const client = newClient({ url, queryTimeoutMs });
  try {
    const session = await withTimeout(reserve(client, MIGRATION_TIMEOUT_MS), queryTimeoutMs);
    await withTimeout(applySteps(session, mustExist), MIGRATION_TIMEOUT_MS);
  } finally {
    await client.close({ timeout: 0 });
  }
}

async function applySteps(session: ReservedSQL, mustExist: boolean): Promise<void> {
  let version = await currentVersion(session);
  if (mustExist && version === 0) throw new Error("it has no tables of Plant Store: use another database");
  while (version < MIGRATIONS.length) version = await retryRaces(() => session.begin(applyStep));
}

/** Reads the version without a lock, so that an up-to-date database needs no permission to change the schema. */
async function currentVersion(session: ReservedSQL): Promise<number> {
  const [table] = await session.unsafe<[{ exists: boolean }]>(
    `SELECT to_regclass('plantstore_schema') IS NOT NULL AS "exists"`,
  );
  if (!table.exists) return 0;
  const [row] = await session.unsafe<{ version: bigint }[]>("SELECT version FROM plantstore_schema");
  return supportedVersion(row?.version ?? 0n);
}

/** Applies the next step, unless another process has applied it, and returns the new version. */
async function applyStep(sql: TransactionSQL): Promise<number> {
  await sql.unsafe(SCHEMA_TABLE);
  const [row] = await sql.unsafe<[{ version: bigint }]>("SELECT version FROM plantstore_schema FOR UPDATE");
  const version = supportedVersion(row.version);
  const step = MIGRATIONS[version];
  if (step === undefined) return version;
  if (version === 0) await rejectForeignTables(sql);
  await sql.unsafe(step);
  if (version === 0) await distribute(sql);
  await sql.unsafe("UPDATE plantstore_schema SET version = $1", [version + 1]);
  return version + 1;
}

function supportedVersion(version: bigint): number {
  if (version <= BigInt(MIGRATIONS.length)) return Number(version);
  throw new Error(
    `it was written by a newer Plant Store (database version ${version}, this program supports ${MIGRATIONS.length}): upgrade this program`,
  );
}

async function rejectForeignTables(sql: TransactionSQL): Promise<void> {
  const [table] = await sql.unsafe<[{ name: string | null }]>(
    "SELECT coalesce(to_regclass('plants'), to_regclass('tokens'))::text AS name",
  );
  if (table.name !== null) {
    throw new Error(`it has a table ${table.name} of another program: use another database`);
  }
}

async function distribute(sql: TransactionSQL): Promise<void> {
  const [server] = await sql.unsafe<[{ isCitus: boolean }]>(
    `SELECT to_regproc('create_distributed_table') IS NOT NULL AS "isCitus"`,
  );
  if (server.isCitus) await sql.unsafe(DISTRIBUTION);
}

/** Retries after errors that are caused by another process that creates the first table concurrently. */
async function retryRaces<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const isRace = ["23505", "42P07", "42710", "40001", "40P01"].includes(sqlState(error) ?? "");
      if (!isRace || attempts === MAX_ATTEMPTS) throw error;
      await Bun.sleep(Math.random() * 2 ** attempts);
    }
  }
}

async function withTimeout<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it did not respond within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
