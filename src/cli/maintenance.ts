import { UsageError } from "../config.ts";
import { countOf } from "../copy/databases.ts";
import { sqliteFile } from "../storage/open.ts";
import type { Contents } from "../storage/sqlite/inspection.ts";

/**
 * The SQLite file that a database URL names; `what` is asked of it.
 * @throws UsageError for PostgreSQL, which brings tools of its own
 */
export function requireSqlite(what: string, database: string): string {
  const file = sqliteFile(database);
  if (file !== undefined) return file;
  throw new UsageError(`${what} is for SQLite: use PostgreSQL's own pg_dump and pg_restore, see docs/operations.md`);
}

/** Is aborted by a stop signal. A second one, as a terminal and a parent may each send one, does not end the clean-up. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

/** `5 plants of 1 owner, 2 tokens` */
export function describe({ plants, owners, tokens }: Contents): string {
  return `${countOf(plants, "plant")} of ${countOf(owners, "owner")}, ${countOf(tokens, "token")}`;
}
