import { Database, SQLiteError } from "bun:sqlite";
import { identify, type OpenFile } from "./open-files.ts";

/** The lock of a server. */
export interface ServerLock {
  /** The file that is locked: a server whose lock file is deleted no longer keeps others off. */
  readonly file: OpenFile;
  release(): void;
}

/**
 * Keeps a second server, or what must be alone like one, off a database file, for as long as this process lives. The
 * lock is an exclusive transaction on an empty database beside the file, so that the operating system lets go of it even
 * after `kill -9`.
 * @throws Error when another process holds it.
 */
export function lockForServer(path: string): ServerLock {
  const lockPath = `${path}.server-lock`;
  const db = new Database(lockPath, { create: true, readwrite: true });
  try {
    db.run("PRAGMA journal_mode = MEMORY");
    db.run("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close(true);
    if (!(error instanceof SQLiteError && error.code === "SQLITE_BUSY")) throw error;
    const message = `another server is running on ${path}, or a copy: stop it first, or use PostgreSQL for several servers`;
    throw new Error(message, { cause: error });
  }
  return { file: identify("lock", lockPath), release: () => db.close(true) };
}
