import { closeSync, fstatSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { copyBytes, sync, timestamp } from "./files.ts";
import { ASIDE_SUFFIX } from "./hard-links.ts";

/**
 * Writes a deleted WAL, which is still open as `descriptor`, to its path again: it holds all writes since the last
 * checkpoint, and the kernel discards it when the process ends. SQLite validates its checksums at the next start.
 * @returns false when that fails, because another program has made a new WAL, for example
 */
export function rewriteWal(path: string, descriptor: number): boolean {
  const partial = `${path}.partial`;
  try {
    const copy = openSync(partial, "w", fstatSync(descriptor).mode);
    try {
      copyBytes(descriptor, copy);
      fsyncSync(copy);
    } finally {
      closeSync(copy);
    }
    // Unlike a rename, a link never replaces a file.
    linkSync(partial, path);
    sync(dirname(path));
    return true;
  } catch {
    return false;
  } finally {
    rmSync(partial, { force: true });
  }
}

/**
 * Renames the WAL of a database whose file was replaced: the next start would apply it to the new file and corrupt it.
 * @returns the new name, or `undefined` when that fails
 */
export function setWalAside(path: string): string | undefined {
  const aside = `${path}${ASIDE_SUFFIX}${timestamp(new Date())}`;
  try {
    renameSync(path, aside);
    sync(dirname(path));
    return aside;
  } catch {
    return undefined;
  }
}
