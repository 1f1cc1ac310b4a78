import { closeSync, fsyncSync, lstatSync, openSync, readlinkSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/**
 * Resolves all symbolic links, including those of a missing file, so that every process uses the same lock and WAL.
 * @throws Error when its folder is missing, or it is itself a folder
 */
export function realPath(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory())
    throw new Error(`${path} is a folder: use a file in it, such as ${join(path, basename(path))}.db`);
  if (stats !== undefined) return realpathSync(path);
  const folder = realpathSync(dirname(path));
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? realPath(resolve(folder, readlinkSync(path))) : join(folder, basename(path));
}

/** Returns the size of a file; 0 if it is missing. */
export const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Calls fsync on a file, or on a folder so that its entries are durable. */
export function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Renames a file and syncs the folder, so that the new name is durable. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  sync(dirname(to));
}

/**
 * Syncs the folder of a new file and its parents, up to the parent of `firstCreated`, the topmost folder that was created
 * for the file. SQLite ignores a failure of its own fsync of the folder.
 */
export function syncFolders(file: string, firstCreated: string | undefined): void {
  const last = dirname(firstCreated === undefined ? file : realpathSync(firstCreated));
  let folder = dirname(file);
  for (; folder !== last; folder = dirname(folder)) sync(folder);
  sync(last);
}

/** Formats a time for a file name, to the second: `20261121T073400Z`. */
export const timestamp = (time: Date): string => time.toISOString().replace(/[-:]|\.\d+/g, "");
