import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { RESTORE_REMEDY } from "./errors.ts";
import { bytesOf, timestamp } from "./file-system.ts";

/** The files of an open database, as suffixes of its path. The lock is this program's, the others are SQLite's. */
export const SUFFIXES = { database: "", "shared-memory": "-shm", WAL: "-wal", lock: ".server-lock" } as const;

/** The role of a file of an open database. */
export type FileRole = keyof typeof SUFFIXES;

const REPLACED_SUFFIX = ".replaced-";
const MIN_PAGE_BYTES = 512;

/** Returns whether a database file is missing or shorter than a page. SQLite treats it as empty and discards its WAL. */
export const isEmpty = (path: string): boolean => bytesOf(path) < MIN_PAGE_BYTES;

/** Returns the size of the WAL of a database file; 0 if the last process that had the database open closed it. */
export const walBytes = (path: string): number => bytesOf(path + SUFFIXES.WAL);

/** Returns the path at which to keep a file that is being replaced. */
export const newKeptPath = (path: string): string => `${path}${REPLACED_SUFFIX}${timestamp(new Date())}`;

/**
 * Rejects a database file with several hard links. The names of the WAL and the lock derive from the name that is opened, so
 * servers on two links would corrupt the file (https://sqlite.org/howtocorrupt.html, 2.5).
 * @throws Error with the number of links and the remedy
 */
export function rejectHardLinks(path: string): void {
  const links = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  if (links <= 1) return;
  const remedy = `find the others with "find / -samefile ${path}" and delete them, or use a copy`;
  throw new Error(`the database ${path} has ${links} hard links, and each would have its own WAL and lock: ${remedy}`);
}

/**
 * Rejects a missing or empty database if another file shows that it was in use: its WAL, which SQLite would discard, or
 * its shared-memory file, after the database was deleted; a replaced database, after a restore was interrupted between its
 * two renames.
 * @throws Error with that file and the remedy
 */
export function rejectLostDatabase(path: string): void {
  if (!isEmpty(path)) return;
  const folder = dirname(path);
  const keptFiles = readdirSync(folder).filter((name) => name.startsWith(basename(path) + REPLACED_SUFFIX));
  const traces = [
    path + SUFFIXES.WAL,
    path + SUFFIXES["shared-memory"],
    ...keptFiles.map((name) => join(folder, name)),
  ];
  const trace = traces.find((file) => bytesOf(file) > 0);
  if (trace === undefined) return;
  const remedy = `move it back, or ${RESTORE_REMEDY}, or move ${trace} away to start with an empty database`;
  throw new Error(`the database ${path} is missing, but ${trace} shows that it was in use: ${remedy}`);
}
