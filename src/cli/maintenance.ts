import { UsageError } from "../config/config.ts";
import type { DatabaseUrl } from "../storage/database-url.ts";
import type { Contents } from "../storage/sqlite/inspection.ts";

/**
 * Returns the file of a SQLite database. `feature` is the command or flag to name in the error message.
 * @throws UsageError for another engine
 */
export function requireSqlite(feature: string, database: DatabaseUrl): string {
  if (database.engine === "sqlite") return database.file;
  throw new UsageError(
    `${feature} supports only SQLite: for PostgreSQL, use pg_dump and pg_restore, see docs/operations.md`,
  );
}

/** Returns a signal that SIGTERM and SIGINT abort. A second one, as npm sends after Ctrl-C, does not interrupt the cleanup. */
export function abortOnStopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

/** Formats counts: `5 plants of 1 owner, 2 tokens`. */
export function formatContents({ plants, owners, tokens }: Contents): string {
  return `${formatCount(plants, "plant")} of ${formatCount(owners, "owner")}, ${formatCount(tokens, "token")}`;
}

/** Formats a count: `1 plant`, `2 plants`. */
export const formatCount = (count: number, noun: "plant" | "owner" | "token"): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
