import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../domain/error.ts";
import { SUFFIXES } from "./database-files.ts";

/** Free space below which a failed write is attributed to a full disk. */
const FULL_BYTES = 64 * 1024;

const PERMISSION = "this user may not read and write it: change its owner or mode, or run as another user";
const OTHER = "use another file with --database";
const { R_OK, W_OK, X_OK } = constants;

/** Causes and remedies by the codes of system calls on the file or on a folder above it. */
const ACCESS_CAUSES: Record<string, string> = {
  EACCES: PERMISSION,
  EPERM: PERMISSION,
  EROFS: `the file system is read-only: mount it writable, or ${OTHER}`,
  ENOTDIR: `it is not a folder: ${OTHER}`,
  EEXIST: `it is not a folder: ${OTHER}`,
};

/** Causes and remedies by the codes of system calls on the path. */
const PATH_CAUSES: Record<string, string> = {
  ELOOP: `its symbolic links form a loop: ${OTHER}`,
  ENAMETOOLONG: `the path is too long: ${OTHER}`,
  ENOENT: `its symbolic link points into a missing folder: create that folder, or ${OTHER}`,
};

/** Explains in one line why the database at `path` cannot be opened. Returns an error without a code unchanged. */
export function toOpenError(path: string, error: unknown): Error {
  // The writer thread reports the failure of its driver as the cause of an AppError.
  const root = (error instanceof AppError ? error.cause : error) as { code?: string; message: string };
  if (root === error && root.code === undefined) return error as Error;
  const { code = "", message } = root;
  const cause = causeOf(path, code, message) ?? `${message} (${code})`;
  return new Error(`the database ${path} cannot be used: ${cause}`, { cause: root });
}

function causeOf(path: string, code: string, message: string): string | undefined {
  if (code.startsWith("SQLITE_BUSY")) return "another process has locked it: wait until it finishes";
  if (/^SQLITE_(CANTOPEN|READONLY|PERM)/.test(code)) return accessCause(path) ?? diskCause(path, code, message);
  if (/^(SQLITE_(FULL|IOERR)|ENOSPC|EDQUOT|EIO)/.test(code)) return diskCause(path, code, message);
  if (code in ACCESS_CAUSES) return `${nearestExisting(path)}: ${ACCESS_CAUSES[code]}`;
  return PATH_CAUSES[code];
}

/** Finds the cause by accessing the files again, because SQLite reports neither the system call that failed nor its error. */
function accessCause(path: string): string | undefined {
  const folder = dirname(path);
  const files = Object.values(SUFFIXES).map((suffix) => path + suffix);
  for (const target of [folder, ...files.filter((file) => existsSync(file))]) {
    try {
      accessSync(target, target === folder ? R_OK | W_OK | X_OK : R_OK | W_OK);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      return `${target}: ${ACCESS_CAUSES[code] ?? code}`;
    }
  }
  return undefined;
}

function diskCause(path: string, code: string, message: string): string {
  const folder = nearestExisting(dirname(path));
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const isFull = freeBytes < FULL_BYTES || (files > 0 && ffree === 0) || /^(SQLITE_FULL|ENOSPC)$/.test(code);
  const free = `${folder} has ${freeBytes} bytes and ${ffree} inodes free`;
  return isFull
    ? `the disk is full (${code}): ${free}: free up space, or ${OTHER}`
    : `its files cannot be written (${code}: ${message}), although ${free}: check the disk, the quota and the file size limit`;
}

/** Returns the path if it exists, otherwise the nearest folder above it that exists. */
function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}
