import type { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { DAMAGE_REMEDY } from "./failures.ts";
import { bytesOf, copyBytes } from "./files.ts";

/** SQLite treats a file that is shorter than the smallest page as empty. */
const MIN_PAGE_BYTES = 512;

/** The size of the WAL of a database file. It is 0 when no process has the database open and none was killed. */
export const walBytes = (path: string): number => bytesOf(`${path}-wal`);

/**
 * Refuses a WAL, or its index, without the database. SQLite would create a new database and discard them; they remain when a
 * server was killed or ended because its files were deleted.
 * @throws Error when the database file is missing or empty, and one of them is not
 */
export function refuseWalWithoutDatabase(path: string): void {
  const left = [`${path}-wal`, `${path}-shm`].find((file) => bytesOf(file) > 0);
  if (left === undefined || bytesOf(path) >= MIN_PAGE_BYTES) return;
  const remedy = `move it back, or delete ${left} to start with an empty database; ${DAMAGE_REMEDY}`;
  throw new Error(`the database ${path} is missing, but ${left} shows that it was in use: ${remedy}`);
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
