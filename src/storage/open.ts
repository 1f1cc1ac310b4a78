import { openPostgres } from "./postgres/storage.ts";
import { openSqlite } from "./sqlite/storage.ts";
import type { Commit, Storage } from "./storage.ts";

/** How a database is to be opened. */
export interface OpenOptions {
  /** Whether this process must be the only one on a SQLite file, as a server must, or is a command beside one. */
  readonly forServer: boolean;
  /** Refuse to make a file or the tables when they are missing, which is what a mistyped name leads to. */
  readonly mustExist?: boolean;
  /** PostgreSQL: how long the server may take for an answer. */
  readonly queryTimeoutMs?: number;
  /** PostgreSQL: connections that are held at most. */
  readonly poolSize?: number;
  /** Hears of every group of writes, once it is on disk. */
  readonly onCommit?: (commit: Commit) => void;
}

/**
 * Opens the database that a URL names, migrated and checked.
 * @throws Error with the reason and the remedy, when it cannot be used.
 */
export function openStorage(
  url: string,
  { forServer, mustExist = false, queryTimeoutMs = 5_000, poolSize = 2, onCommit = () => {} }: OpenOptions,
): Promise<Storage> {
  const file = sqliteFile(url);
  return file === undefined
    ? openPostgres({ url, queryTimeoutMs, poolSize, mustExist, onCommit })
    : openSqlite(file, { forServer, mustExist, onCommit });
}

/** The path of the file that a database URL names; `undefined` for PostgreSQL. */
export function sqliteFile(url: string): string | undefined {
  return url.startsWith("sqlite:") ? url.slice("sqlite:".length) : undefined;
}
