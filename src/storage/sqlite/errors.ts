import { SQLiteError } from "bun:sqlite";
import { AppError } from "../../domain/error.ts";

/** The remedy for a lost or damaged file, without a period. */
export const RESTORE_REMEDY = 'stop the server and restore a backup with "plantstore restore FILE --force"';

/** Returns the extended result code of an error or of its cause, such as `SQLITE_BUSY` or `SQLITE_IOERR_FSYNC`. */
export function codeOf(error: unknown): string | undefined {
  const failure = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return failure instanceof SQLiteError ? failure.code : undefined;
}

/** Returns whether the file is corrupt or not a database. */
export const isDamage = (code: string | undefined): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? "");

/** Returns whether an fsync failed. The kernel reports that once and then treats the lost pages as written. */
export const isFsyncFailure = (code: string | undefined): boolean =>
  /^SQLITE_IOERR_(FSYNC|DIR_FSYNC|TRUNCATE)$/.test(code ?? "");

/** Converts a driver error to an `AppError`, by its code. */
export function toAppError(code: string | undefined, cause: unknown): AppError {
  if (/^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|NOMEM|READONLY)/.test(code ?? "")) {
    return new AppError("unavailable", "the database is unavailable: try again", { cause });
  }
  const message = isDamage(code) ? `the database is damaged: ${RESTORE_REMEDY}` : "unexpected database error";
  return new AppError("internal", message, { cause });
}
