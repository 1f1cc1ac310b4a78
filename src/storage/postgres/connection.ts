import { type ReservedSQL, SQL } from "bun";
import { AppError } from "../../domain/error.ts";

/** How the server is reached, and how long it may take for an answer. */
export interface ServerOptions {
  /** `postgres://user:password@host:port/database?sslmode=...`, with the parameters of libpq. */
  readonly url: string;
  readonly queryTimeoutMs: number;
}

/**
 * Makes the session ours and asks what its server is. Every statement walks an index: where statistics are old or owners
 * of very different size, PostgreSQL would rather read and sort all plants (measured 2026-11: 20 lists a second instead
 * of thousands, on an owner of 600,000 plants). It is planned once for a connection, which halves what a list costs the
 * server; but every time where the values matter: they name the shard of a distributed table, and before version 17 the
 * planner looks up some ids by reading all of an owner that it takes for a small one.
 */
const START_SESSION = `SELECT set_config('plan_cache_mode', CASE
    WHEN current_setting('server_version_num')::int >= 170000 AND to_regproc('create_distributed_table') IS NULL
    THEN 'force_generic_plan' ELSE 'force_custom_plan' END, false),
  set_config('enable_seqscan', 'off', false), set_config('enable_sort', 'off', false),
  set_config('statement_timeout', $1, false),
  pg_is_in_recovery() AS is_standby, current_setting('server_encoding') AS encoding,
  current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync', true) AS fsync`;

interface ServerFacts {
  readonly is_standby: boolean;
  readonly encoding: string;
  readonly synchronous_commit: string;
  readonly fsync: string | null;
}

/** A client of exactly one connection, so that a connection that went bad can be told from the others and dropped. */
export function newClient({ url, queryTimeoutMs }: ServerOptions, onclose?: () => void): SQL {
  const { pathname, searchParams } = new URL(url);
  const isVerified = /^verify-/i.test(searchParams.get("sslmode") ?? "") || searchParams.has("sslrootcert");
  return new SQL(url, {
    max: 1,
    bigint: true,
    // The URL decides, not PGDATABASE, which the driver would prefer.
    database: decodeURIComponent(pathname.slice(1)),
    // Likewise: NODE_TLS_REJECT_UNAUTHORIZED=0 would turn the check of the certificate off.
    ...(isVerified ? { tls: { rejectUnauthorized: true } } : {}),
    connectionTimeout: Math.ceil(queryTimeoutMs / 1_000),
    connection: { application_name: "plantstore" },
    ...(onclose === undefined ? {} : { onclose }),
  });
}

/**
 * Takes the client's connection and makes sure that its server keeps what it answers and answers what it keeps.
 * The server will give a statement up a little before this side would, which then keeps its connection.
 * @throws Error when it is a standby, may forget a commit, or does not store Unicode.
 */
export async function reserve(client: SQL, queryTimeoutMs: number): Promise<ReservedSQL> {
  const session = await client.reserve();
  const statementTimeoutMs = Math.ceil(queryTimeoutMs * 0.9);
  const [facts] = await session.unsafe<[ServerFacts]>(START_SESSION, [String(statementTimeoutMs)]);
  const fault = serverFault(facts);
  if (fault !== undefined) throw new Error(fault);
  return session;
}

function serverFault({ is_standby, encoding, synchronous_commit, fsync }: ServerFacts): string | undefined {
  if (is_standby) return "it is a standby, which is read-only: name the primary";
  if (encoding !== "UTF8") return `its encoding is ${encoding}: make a database with ENCODING 'UTF8'`;
  if (synchronous_commit === "off") return "synchronous_commit is off, so that a commit may be lost: turn it on";
  if (fsync === "off") return "fsync is off, so that a commit may be lost: turn it on";
  return undefined;
}

/** The SQLSTATE of an error that the server sent (PostgreSQL manual, appendix A); `undefined` for any other. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof SQL.PostgresError ? error.errno : undefined;

/** Whether the connection is of no more use: it broke or is silent, its server stops, or turned read-only. */
export function endsConnection(error: unknown): boolean {
  return /^(08|57P|25006)/.test(sqlState(error) ?? "08");
}

/**
 * A failure in the words of the application. Whatever the server did not say is unknown, and so `unavailable`; of what
 * it says, these pass: connection, authorization, transaction rollback, resources, intervention, system, locks,
 * read-only, a missing database.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const isMistake = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  const isPassing = /^(08|28|40|53|57|58|55P03|25006|3D000)/.test(sqlState(error) ?? (isMistake ? "" : "08"));
  return isPassing
    ? new AppError("unavailable", "the database cannot be used right now: try again", { cause: error })
    : new AppError("internal", "the database failed", { cause: error });
}
