import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../domain/error.ts";
import { SUFFIXES } from "./database-files.ts";

/** A failure to write is attributed to a full disk when less than this is free. */
const FULL_BYTES = 64 * 1024;

const PERMISSION = "this user may not read and write it: change its owner or mode, or run as another user";
const OTHER = "name another file with --database";
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
  ENOENT: `its symbolic link leads into a missing folder: make that folder, or ${OTHER}`,
};

/** Explains in one line why the database at `path` cannot be opened. An error that has no code is already explained. */
export function toOpenError(path: string, error: unknown): Error {
  // The writer thread reports the failure of its driver as the cause of an AppError.
  const root = (error instanceof AppError ? error.cause : error) as { code?: string; message: string };
  if (root === error && root.code === undefined) return error as Error;
  const { code = "", message } = root;
  const cause = causeOf(path, code, message) ?? `${message} (${code})`;
  return new Error(`the database ${path} cannot be used: ${cause}`, { cause: root });
}

function causeOf(path: string, code: string, message: string): string | undefined {
  if (code.startsWith("SQLITE_BUSY")) return "another process has locked it: wait until that is done";
  if (/^SQLITE_(CANTOPEN|READONLY|PERM)/.test(code)) return accessCause(path) ?? diskCause(path, code, message);
  if (/^(SQLITE_(FULL|IOERR)|ENOSPC|EDQUOT|EIO)/.test(code)) return diskCause(path, code, message);
  if (code in ACCESS_CAUSES) return `${nearest(path)}: ${ACCESS_CAUSES[code]}`;
  return PATH_CAUSES[code];
}

/** SQLite does not say which system call failed, nor why: accessing the files again does. */
function accessCause(path: string): string | undefined {
  const folder = dirname(path);
  const files = Object.values(SUFFIXES).map((suffix) => path + suffix);
  for (const each of [folder, ...files.filter((file) => existsSync(file))]) {
    try {
      accessSync(each, each === folder ? R_OK | W_OK | X_OK : R_OK | W_OK);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      return `${each}: ${ACCESS_CAUSES[code] ?? code}`;
    }
  }
  return undefined;
}

function diskCause(path: string, code: string, message: string): string {
  const folder = nearest(dirname(path));
  const { bavail, bsize, files, ffree } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const isFull = freeBytes < FULL_BYTES || (files > 0 && ffree === 0) || /^(SQLITE_FULL|ENOSPC)$/.test(code);
  const free = `${folder} has ${freeBytes} bytes and ${ffree} inodes free`;
  return isFull
    ? `the disk is full (${code}): ${free}: make room, or ${OTHER}`
    : `its files cannot be written (${code}: ${message}), although ${free}: check the disk, the quota and the file size limit`;
}

/** The path itself or the nearest folder above it that exists. */
function nearest(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearest(dirname(path));
}
