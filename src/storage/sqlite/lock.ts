import { Database, SQLiteError } from "bun:sqlite";
import { SUFFIXES } from "./database-files.ts";
import { identify, type OpenFile } from "./open-files.ts";

/** The lock of a server on a database file. */
export interface ServerLock {
  /** The locked file. When it is deleted, a second server can start. */
  readonly file: OpenFile;
  release(): void;
}

/**
 * Locks a database file against a second server, and against commands that need exclusive access, until this process ends.
 * The lock is an exclusive transaction on an empty database beside the file, which the operating system releases even
 * after `kill -9`.
 * @throws Error when another process holds the lock
 */
export function lockForServer(path: string): ServerLock {
  const db = new Database(path + SUFFIXES.lock, { create: true, readwrite: true });
  try {
    db.run("PRAGMA journal_mode = MEMORY");
    db.run("BEGIN EXCLUSIVE");
  } catch (error) {
    db.close(true);
    if (!(error instanceof SQLiteError && error.code === "SQLITE_BUSY")) throw error;
    const message = `another server is running on ${path}, or a copy or restore uses it: stop it first, or use PostgreSQL for several servers`;
    throw new Error(message, { cause: error });
  }
  return { file: identify(path, "lock"), release: () => db.close(true) };
}
