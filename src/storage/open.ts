import { openPostgres } from "./postgres/storage.ts";
import { openSqlite } from "./sqlite/storage.ts";
import type { Storage } from "./storage.ts";

/** How a database is to be opened. */
export interface OpenOptions {
  /** Whether this process is a server, or a command beside one. */
  readonly forServer: boolean;
  /** SQLite: refuse to make a file that is missing, which a mistyped path would be. */
  readonly mustExist?: boolean;
  /** PostgreSQL: how long the server may take for an answer. */
  readonly queryTimeoutMs?: number;
  /** PostgreSQL: connections that are held at most. */
  readonly poolSize?: number;
}

/**
 * Opens the database that a URL names, migrated and checked.
 * @throws Error with the reason and the remedy, when it cannot be used.
 */
export function openStorage(
  url: string,
  { forServer, mustExist = false, queryTimeoutMs = 5_000, poolSize = 2 }: OpenOptions,
): Promise<Storage> {
  const file = sqliteFile(url);
  return file === undefined
    ? openPostgres({ url, queryTimeoutMs, poolSize })
    : openSqlite(file, { forServer, mustExist });
}

/** The path of the file that a database URL names; `undefined` for PostgreSQL. */
export function sqliteFile(url: string): string | undefined {
  return url.startsWith("sqlite:") ? url.slice("sqlite:".length) : undefined;
}
