import type { Database } from "bun:sqlite";
import { closeSync, fstatSync, fsyncSync, linkSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { SUFFIXES } from "./database-files.ts";
import { sync } from "./file-system.ts";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Rewrites the WAL of a killed server byte for byte and syncs it. After a failed fsync, the kernel may treat pages of the WAL
 * as written although they are not on disk; all frames after them would be lost too.
 */
export function rewriteWal(db: Database): void {
  // Prevents other processes from writing to the WAL meanwhile.
  db.run("BEGIN IMMEDIATE");
  const wal = openSync(db.filename + SUFFIXES.WAL, "r+");
  try {
    copyAndSync(wal, wal);
  } finally {
    closeSync(wal);
    db.run("ROLLBACK");
  }
}

/**
 * Writes a deleted WAL, which is still open as `descriptor`, to its path again: it holds all writes since the last
 * checkpoint, and the kernel discards it when the process ends. SQLite validates its checksums at the next start.
 * @throws Error when that fails, for example because another program has created a new WAL
 */
export function recreateWal(path: string, descriptor: number): void {
  const partial = `${path}.partial`;
  try {
    const copy = openSync(partial, "w", fstatSync(descriptor).mode);
    try {
      copyAndSync(descriptor, copy);
    } finally {
      closeSync(copy);
    }
    // Unlike a rename, a link never replaces a file.
    linkSync(partial, path);
    sync(dirname(path));
  } finally {
    rmSync(partial, { force: true });
  }
}

/** Copies the content of an open file to the same positions of another, or of itself, and syncs the target. */
function copyAndSync(from: number, to: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const length = readSync(from, chunk, 0, CHUNK_BYTES, position);
    if (length === 0) break;
    // A write may be short. The next read continues after the bytes that were written.
    position += writeSync(to, chunk, 0, length, position);
  }
  fsyncSync(to);
}
