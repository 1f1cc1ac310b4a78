import type { DatabaseUrl } from "./database-url.ts";
import { openPostgres } from "./postgres/storage.ts";
import { openSqlite } from "./sqlite/storage.ts";
import type { Commit, Storage } from "./storage.ts";

/** Options of {@link openStorage}. */
export interface OpenOptions {
  /** SQLite: whether to take the server lock. Commands that may run while a server does leave it out. */
  readonly forServer: boolean;
  /** Whether to fail instead of creating a missing file or missing tables, for example after a typo in the URL. */
  readonly mustExist?: boolean;
  /** PostgreSQL: query timeout. */
  readonly queryTimeoutMs?: number;
  /** PostgreSQL: maximum number of connections. */
  readonly poolSize?: number;
  /** Called for each durable batch of writes. */
  readonly onCommit?: (commit: Commit) => void;
}

/**
 * Opens and migrates a database.
 * @throws Error with the cause and the remedy when it cannot be used
 */
export function openStorage(
  database: DatabaseUrl,
  { forServer, mustExist = false, queryTimeoutMs = 5_000, poolSize = 2, onCommit = () => {} }: OpenOptions,
): Promise<Storage> {
  switch (database.engine) {
    case "sqlite":
      return openSqlite(database.file, { forServer, mustExist, onCommit });
    case "postgres":
      return openPostgres({ url: database.url, queryTimeoutMs, poolSize, mustExist, onCommit });
  }
}
