import { SQLiteError } from "bun:sqlite";
import { AppError } from "../../domain/error.ts";

/** The command that puts a backup in the place of a database, quoted. */
export const RESTORE_COMMAND = '"plantstore restore FILE --force"';

/** What to do about a file that SQLite finds damaged, as the end of a sentence. */
export const DAMAGE_REMEDY = `if --database names the right file, put a backup in its place: stop the server, then ${RESTORE_COMMAND}`;

/** SQLite's extended name for a failure, or for its cause: `SQLITE_BUSY`, `SQLITE_IOERR_FSYNC`... */
export function codeOf(error: unknown): string | undefined {
  const failure = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return failure instanceof SQLiteError ? failure.code : undefined;
}

/** Whether the file holds something that no SQLite wrote there. */
export const isDamage = (code: string | undefined): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(code ?? "");

/** A failed fsync: the kernel tells once, and from then on takes for written what it could not write. */
export const isLoss = (code: string | undefined): boolean =>
  /^SQLITE_IOERR_(FSYNC|DIR_FSYNC|TRUNCATE)$/.test(code ?? "");

/** A failure of the driver in the words of the application: by its code, never by its text. */
export function toAppError(code: string | undefined, cause: unknown): AppError {
  if (/^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|NOMEM|READONLY)/.test(code ?? "")) {
    return new AppError("unavailable", "the database cannot be used right now: try again", { cause });
  }
  const message = isDamage(code) ? `the database is damaged: ${DAMAGE_REMEDY}` : "the database failed";
  return new AppError("internal", message, { cause });
}
