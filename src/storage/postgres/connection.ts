import { type ReservedSQL, SQL } from "bun";
import { AppError } from "../../domain/error.ts";

/** URL and query timeout of a server. */
export interface ServerOptions {
  /** `postgres://user:password@host:port/database?sslmode=...`, with the parameters of libpq. */
  readonly url: string;
  readonly queryTimeoutMs: number;
}

/**
 * Configures the session and reads the state of the server. Sequential scans and sorts are off, because with stale statistics
 * or owners of very different size PostgreSQL would read and sort all plants (measured 2026-11: 20 lists per second instead of
 * thousands, on an owner of 600,000 plants). Generic plans, created once per connection, halve the cost of a list. Custom plans
 * are used where the values matter: they select the shard of a distributed table, and before version 17 the planner reads all
 * plants of an owner that it estimates to be small.
 */
const START_SESSION = `SELECT set_config('plan_cache_mode', CASE
    WHEN current_setting('server_version_num')::int >= 170000 AND to_regproc('create_distributed_table') IS NULL
    THEN 'force_generic_plan' ELSE 'force_custom_plan' END, false),
  set_config('enable_seqscan', 'off', false), set_config('enable_sort', 'off', false),
  set_config('statement_timeout', $1, false),
  pg_is_in_recovery() AS is_standby, current_setting('server_encoding') AS encoding,
  current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync', true) AS fsync`;

interface ServerState {
  readonly is_standby: boolean;
  readonly encoding: string;
  readonly synchronous_commit: string;
  readonly fsync: string | null;
}

/** Returns a client with one connection, so that a failed connection can be closed separately. */
export function newClient({ url, queryTimeoutMs }: ServerOptions, onclose?: () => void): SQL {
  const { pathname, searchParams } = new URL(url);
  const isVerified = /^verify-/i.test(searchParams.get("sslmode") ?? "") || searchParams.has("sslrootcert");
  return new SQL(url, {
    max: 1,
    bigint: true,
    // The URL takes precedence over PGDATABASE, which the driver would prefer.
    database: decodeURIComponent(pathname.slice(1)),
    // Likewise over NODE_TLS_REJECT_UNAUTHORIZED=0, which would disable certificate verification.
    ...(isVerified ? { tls: { rejectUnauthorized: true } } : {}),
    connectionTimeout: Math.ceil(queryTimeoutMs / 1_000),
    connection: { application_name: "plantstore" },
    ...(onclose === undefined ? {} : { onclose }),
  });
}

/**
 * Opens the client's connection and checks that the server is durable and stores Unicode. The statement timeout is 90% of
 * the query timeout, so that the server cancels a slow statement before this process closes the connection.
 * @throws Error when the server is a standby, may lose a commit or does not store Unicode
 */
export async function reserve(client: SQL, queryTimeoutMs: number): Promise<ReservedSQL> {
  const session = await client.reserve();
  const statementTimeoutMs = Math.ceil(queryTimeoutMs * 0.9);
  const [state] = await session.unsafe<[ServerState]>(START_SESSION, [String(statementTimeoutMs)]);
  const problem = serverProblem(state);
  if (problem !== undefined) throw new Error(problem);
  return session;
}

function serverProblem({ is_standby, encoding, synchronous_commit, fsync }: ServerState): string | undefined {
  if (is_standby) return "it is a standby, which is read-only: connect to the primary";
  if (encoding !== "UTF8") return `its encoding is ${encoding}: create a database with ENCODING 'UTF8'`;
  if (synchronous_commit === "off") return "synchronous_commit is off, so commits can be lost: turn it on";
  if (fsync === "off") return "fsync is off, so commits can be lost: turn it on";
  return undefined;
}

/** Returns the SQLSTATE of an error that the server sent (PostgreSQL manual, appendix A); `undefined` for any other. */
export const sqlState = (error: unknown): string | undefined =>
  error instanceof SQL.PostgresError ? error.errno : undefined;

/**
 * Whether the connection is unusable: it broke or timed out, or its server is stopping or read-only. Class 08 from the server
 * means that it lost one of its own connections, such as to a Citus worker.
 */
export function endsConnection(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || /^(57P|25006)/.test(state);
}

/**
 * Converts a driver error to an `AppError`. Errors that the server did not send are `unavailable`, and so are those of these
 * SQLSTATE classes: connection, authorization, transaction rollback, resources, operator intervention, system, locks,
 * read-only, missing database.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const isProgrammingError = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  const isTransient = /^(08|28|40|53|57|58|55P03|25006|3D000)/.test(
    sqlState(error) ?? (isProgrammingError ? "" : "08"),
  );
  return isTransient
    ? new AppError("unavailable", "the database is unavailable: try again", { cause: error })
    : new AppError("internal", "unexpected database error", { cause: error });
}
