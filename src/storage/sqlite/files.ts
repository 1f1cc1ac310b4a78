import { closeSync, existsSync, fsyncSync, openSync, readSync, realpathSync, statSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const CHUNK_BYTES = 1024 * 1024;

/** The file itself, through any links, so that all who open it meet at one lock. Its folder must be there. */
export const realPath = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));

/** The length of a file, 0 when it is missing. */
export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Whether a file begins as every SQLite database does (https://sqlite.org/fileformat.html, 1.3). */
export function beginsAsDatabase(path: string): boolean {
  const magic = "SQLite format 3\0";
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(magic.length);
    readSync(file, bytes);
    return bytes.toString("latin1") === magic;
  } finally {
    closeSync(file);
  }
}

/** Waits until a file, or the names in a folder, are on disk. */
export function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Copies an open file from its start to the same positions of another, or over itself. */
export function copyBytes(from: number, to: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const length = readSync(from, chunk, 0, CHUNK_BYTES, position);
    if (length === 0) return;
    position += writeSync(to, chunk, 0, length, position);
  }
}

/** A time as part of a file's name, to the second: `20261121T073400Z`. */
export const timestamp = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, "");
