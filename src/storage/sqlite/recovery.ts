import type { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { DAMAGE_REMEDY } from "./failures.ts";
import { bytesOf, copyBytes } from "./files.ts";

/** SQLite treats a file that is shorter than the smallest page as empty. */
const MIN_PAGE_BYTES = 512;

/** The size of the WAL of a database file. It is 0 when no process has the database open and none was killed. */
export const walBytes = (path: string): number => bytesOf(`${path}-wal`);

/**
 * Refuses a WAL without its database. SQLite would create a new database and discard the WAL.
 * @throws Error when the database file is missing or empty and its WAL is not
 */
export function refuseWalWithoutDatabase(path: string): void {
  if (bytesOf(path) >= MIN_PAGE_BYTES || walBytes(path) === 0) return;
  throw new Error(`the database ${path} is gone, only its log ${path}-wal is there: bring it back; ${DAMAGE_REMEDY}`);
}

/**
 * Rewrites the WAL that a killed server left, byte for byte, and syncs it. After a failed fsync, the kernel may treat pages
 * of it as written that are not on disk; everything after them would be lost too.
 */
export function rewriteLeftWal(db: Database): void {
  // Prevents other processes from writing to the WAL meanwhile.
  db.run("BEGIN IMMEDIATE");
  const file = openSync(`${db.filename}-wal`, "r+");
  try {
    copyBytes(file, file);
    fsyncSync(file);
  } finally {
    closeSync(file);
    db.run("ROLLBACK");
  }
}
