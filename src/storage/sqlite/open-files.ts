import type { Database, Statement } from "bun:sqlite";
import { closeSync, existsSync, lstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { queryValue } from "./connection.ts";
import { type FileRole, newKeptPath, SUFFIXES } from "./database-files.ts";
import { RESTORE_REMEDY } from "./errors.ts";
import { renameDurably } from "./file-system.ts";
import { recreateWal } from "./wal.ts";

/** A file of an open database. */
export interface OpenFile {
  readonly role: FileRole;
  readonly path: string;
  /** Device and inode. */
  readonly id: string;
  /** Size when it was last checked. */
  readonly bytes: number;
}

/** A file of an open database was moved, deleted, replaced or truncated: the database must not be used any more. */
export class FileLoss extends Error {}

const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** Remedies for a missing, replaced or truncated file. */
const REMEDIES: Record<FileRole, string> = {
  database: `move the original back, with its WAL beside it, or ${RESTORE_REMEDY}`,
  WAL: `writes since the last checkpoint may be lost: move the original back, or ${RESTORE_REMEDY}, or run "plantstore check" and start again with what is left`,
  "shared-memory": "start again: SQLite rebuilds it from the WAL",
  lock: "leave this file in place, make sure that only one server runs on the database, then start again",
};

/**
 * Identifies a file of the database at `path` that was just opened.
 * @throws FileLoss when it is missing
 */
export function identify(path: string, role: FileRole): OpenFile {
  const file = { role, path: path + SUFFIXES[role] };
  const found = statFile(file);
  if (found === undefined) throw lossOf(file, "was moved or deleted", REMEDIES[role]);
  return found;
}

/** Identifies a database file, its WAL and its shared-memory file, which exist once a connection in WAL mode has read. */
export const identifyDatabase = (path: string): OpenFile[] => [
  identify(path, "database"),
  // Checked before the WAL, whose frames are counted in shared memory: reading truncated shared memory raises SIGBUS.
  identify(path, "shared-memory"),
  identify(path, "WAL"),
];

/**
 * Checks that the paths of an open database still lead to the files that SQLite has open, and that none is smaller than
 * what was written. Otherwise SQLite would write to files that the next start does not find. The check only calls stat:
 * closing any descriptor of the database or its shared-memory file would drop SQLite's POSIX locks on it
 * (https://sqlite.org/howtocorrupt.html, 2.2). The WAL has no such locks.
 */
export class OpenFiles {
  readonly #db: Database;
  readonly #walState: Statement;
  readonly #pageBytes: number;
  /** Keeps a deleted WAL readable. */
  readonly #walDescriptor: number;
  #files: readonly OpenFile[];
  #walFrames = 0;

  /**
   * `db` is a connection to the database that `files` identify.
   * @throws FileLoss when it is not
   */
  constructor(db: Database, files: readonly OpenFile[]) {
    this.#db = db;
    this.#walState = db.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#pageBytes = Number(queryValue(db, "PRAGMA page_size"));
    this.#files = files;
    this.#walDescriptor = openSync(this.#file("WAL").path, "r");
    this.check();
  }

  /** Frames in the WAL at the last check. */
  get walFrames(): number {
    return this.#walFrames;
  }

  /** @throws FileLoss with the file, what happened to it and the remedy, when one is missing, replaced or truncated */
  check(): void {
    this.#files = this.#files.map((file) => this.#check(file));
  }

  /** Checks only the WAL and its index. @throws FileLoss */
  checkWal(): void {
    this.#check(this.#file("shared-memory"));
    this.#check(this.#file("WAL"));
  }

  /** Closes the descriptor of the WAL. */
  close(): void {
    closeSync(this.#walDescriptor);
  }

  #file(role: FileRole): OpenFile {
    return this.#files.find((file) => file.role === role) as OpenFile;
  }

  #check(file: OpenFile): OpenFile {
    const minBytes = file.role === "WAL" ? this.#minWalBytes() : file.bytes;
    const found = statFile(file);
    if (found === undefined) throw this.#loss(file, "was moved or deleted");
    if (found.id !== file.id) throw this.#loss(file, "was replaced by another file");
    if (found.bytes < minBytes && this.#isTruncated(found)) {
      throw this.#loss(file, `was truncated to ${found.bytes} bytes`);
    }
    return found;
  }

  /** Returns whether a file that is smaller than expected was truncated by a program other than SQLite. */
  #isTruncated(file: OpenFile): boolean {
    // SQLite may have restarted and truncated the WAL after the frames were counted, so they are counted again.
    if (file.role === "WAL") return this.#minWalBytes() > (statFile(file)?.bytes ?? 0);
    // A VACUUM reduces both the size and the number of pages.
    return file.role !== "database" || file.bytes < Number(queryValue(this.#db, "PRAGMA page_count")) * this.#pageBytes;
  }

  /** Returns the minimum size of the WAL with its current frames (https://sqlite.org/fileformat.html, 4.1). */
  #minWalBytes(): number {
    const [, frames] = this.#walState.values()[0] as [busy: bigint, frames: bigint];
    this.#walFrames = Number(frames);
    return frames === 0n ? 0 : WAL_HEADER_BYTES + this.#walFrames * (FRAME_HEADER_BYTES + this.#pageBytes);
  }

  /** Describes the loss of a file. If the loss affects the WAL, first saves it if possible. */
  #loss(file: OpenFile, event: string): FileLoss {
    const remedy = REMEDIES[file.role];
    const [database, wal] = [this.#file("database"), this.#file("WAL")];
    try {
      const isReplaced = ![undefined, database.id].includes(statFile(database)?.id);
      const walId = statFile(wal)?.id;
      if (isReplaced && walId === wal.id) {
        // The next start would apply the WAL to the new file and corrupt it.
        const keptPath = newKeptPath(wal.path);
        renameDurably(wal.path, keptPath);
        return lossOf(
          file,
          event,
          `${remedy}; to use the new file, start again: the original's WAL is now ${keptPath}`,
        );
      }
      if (!isReplaced && walId === undefined) {
        recreateWal(wal.path, this.#walDescriptor);
        const next = file.role === "WAL" ? "start again" : remedy;
        return lossOf(file, event, `the content of the deleted WAL was written back: ${next}`);
      }
    } catch {
      // Another program has created a file at the path, or the folder is missing.
    }
    return lossOf(file, event, remedy);
  }
}

/** @throws FileLoss when the path cannot be read */
function statFile({ role, path }: Pick<OpenFile, "role" | "path">): OpenFile | undefined {
  try {
    // Does not follow links: SQLite names the WAL after the target, so a new link leads to a different WAL.
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && { role, path, id: `${stats.dev}:${stats.ino}`, bytes: Number(stats.size) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw new FileLoss(`the ${role} file ${path} cannot be checked any more: ${(error as Error).message}`);
  }
}

function lossOf({ role, path }: Pick<OpenFile, "role" | "path">, event: string, remedy: string): FileLoss {
  const folder = dirname(path);
  const [subject, action] = existsSync(folder)
    ? [`${role} file ${path} ${event}`, remedy]
    : [`folder ${folder} of the database was moved or deleted`, `move it back, or ${RESTORE_REMEDY}`];
  return new FileLoss(`the ${subject} while it was in use: ${action}`);
}
