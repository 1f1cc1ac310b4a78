import { readConfig, UsageError } from "../config.ts";
import { sqliteFile } from "../storage/open.ts";
import type { Contents } from "../storage/sqlite/inspection.ts";

/**
 * The SQLite file that the settings name.
 * @throws UsageError for PostgreSQL, which brings tools of its own
 */
export function requireSqlite(command: string, flags: Record<string, unknown>): string {
  const file = sqliteFile(readConfig(["database"], flags).database);
  if (file !== undefined) return file;
  throw new UsageError(`${command} is for SQLite: use PostgreSQL's own pg_dump and pg_restore, see docs/operations.md`);
}

/** Is aborted by the first stop signal; a second one ends the process. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** `5 plants of 1 owner, 2 tokens` */
export function describe({ plants, owners, tokens }: Contents): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  return `${count(plants, "plant")} of ${count(owners, "owner")}, ${count(tokens, "token")}`;
}
