import type { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { DAMAGE_REMEDY } from "./failures.ts";
import { bytesOf, copyBytes } from "./files.ts";

/** SQLite takes a file that is shorter than any page for an empty one. */
const MIN_PAGE_BYTES = 512;

/** The bytes of the log beside a database file, 0 when there is none: nobody has it open, and nobody was killed. */
export const logBytes = (path: string): number => bytesOf(`${path}-wal`);

/**
 * SQLite takes a file that is missing or empty for a new database, and throws the log beside it away.
 * @throws Error when there is such a log: the database itself is what was lost
 */
export function refuseLoneLog(path: string): void {
  if (bytesOf(path) >= MIN_PAGE_BYTES || logBytes(path) === 0) return;
  throw new Error(`the database ${path} is gone, only its log ${path}-wal is there: bring it back; ${DAMAGE_REMEDY}`);
}

/**
 * Writes the log that a killed server left behind once more, byte for byte, and syncs it. After a failed fsync the
 * kernel may hold pages of it for written that are not on the disk: all that follows would be lost with them.
 */
export function settleLog(db: Database): void {
  // Keeps other processes from writing to the log meanwhile.
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
