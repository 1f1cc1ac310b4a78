import { Database } from "bun:sqlite";
import { rejectHardLinks } from "./database-files.ts";
import { toOpenError } from "./open-error.ts";

/** The first SQLite version without the WAL-reset race, which could corrupt a database with several connections. */
const MIN_SQLITE_VERSION = "3.51.3";

/** Timeout of a statement that waits for a write lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens a database file and creates a missing one unless `create` is false. Writes nothing to an existing file.
 * @throws Error when this SQLite is too old, the file has hard links, cannot be opened or is not a database.
 */
export function connect(path: string, { create = true } = {}): Database {
  rejectHardLinks(path);
  let db: Database | undefined;
  try {
    db = new Database(path, { create, readwrite: true, safeIntegers: true, strict: true });
    db.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    // Reports damaged pages when they are read: without this, some of them end a list early.
    db.run("PRAGMA cell_size_check = ON");
    queryValue(db, "SELECT count(*) FROM sqlite_schema");
  } catch (error) {
    db?.close(true);
    throw toOpenError(path, error);
  }
  const version = queryValue(db, "SELECT sqlite_version()") as string;
  if (Bun.semver.order(version, MIN_SQLITE_VERSION) >= 0) return db;
  db.close(true);
  throw new Error(`SQLite ${version} is too old: ${MIN_SQLITE_VERSION} or newer is needed`);
}

/**
 * Configures a connection so that a commit is on disk when it returns and readers never wait for it.
 * @throws Error when SQLite does not apply the settings, which it does not report itself
 */
export function makeDurable(db: Database): void {
  queryValue(db, "PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = FULL");
  // On macOS, fsync alone does not reach the disk (fcntl(2), F_FULLFSYNC). Elsewhere these have no effect.
  db.run("PRAGMA fullfsync = ON");
  db.run("PRAGMA checkpoint_fullfsync = ON");
  const journalMode = queryValue(db, "PRAGMA journal_mode");
  const synchronous = Number(queryValue(db, "PRAGMA synchronous"));
  if (journalMode !== "wal" || synchronous !== 2) {
    throw new Error(
      `${db.filename} cannot be made durable: journal_mode is ${journalMode} (needs wal), synchronous is ${synchronous} (needs 2)`,
    );
  }
}

/** Returns the first value of the first row of a query or pragma. */
export function queryValue(db: Database, sql: string): unknown {
  using statement = db.prepare(sql);
  return statement.values()[0]?.[0];
}
