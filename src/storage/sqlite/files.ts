import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const CHUNK_BYTES = 1024 * 1024;

/**
 * Resolves all symbolic links, of a missing file too, so that every process finds the same lock and WAL beside it.
 * @throws Error when its folder is missing, or it is itself a folder
 */
export function realPath(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory())
    throw new Error(`${path} is a folder: name a file in it, such as ${join(path, basename(path))}.db`);
  if (stats !== undefined) return realpathSync(path);
  const folder = realpathSync(dirname(path));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPath(resolve(folder, readlinkSync(path))) : join(folder, basename(path));
}

/** The size of a file, 0 when it is missing. */
export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Whether a file has the header of a SQLite database (https://sqlite.org/fileformat.html, 1.3). */
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

/** Calls fsync on a file, or on a folder for the names in it. */
export function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Syncs the folder of a new file, and those above it up to the one that holds `firstMade`, the first folder that was
 * made for it. SQLite ignores a failure of its own fsync of the folder.
 * @throws Error when the names in a folder may not be on disk
 */
export function syncFolders(file: string, firstMade: string | undefined): void {
  const last = firstMade === undefined ? dirname(file) : dirname(realpathSync(firstMade));
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    try {
      sync(folder);
    } catch (error) {
      const message = `the folder ${folder} cannot be synced, so its files may be lost in a power failure`;
      throw new Error(`${message}: check the disk, or use another (${(error as Error).message})`, { cause: error });
    }
    if (folder === last) return;
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

/** Formats a time for a file name, to the second: `20261121T073400Z`. */
export const timestamp = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, "");
