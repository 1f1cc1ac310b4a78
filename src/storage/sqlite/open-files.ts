import type { Database, Statement } from "bun:sqlite";
import { closeSync, existsSync, lstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { pragma } from "./connection.ts";
import { RESTORE_COMMAND } from "./failures.ts";
import { rewriteWal, setWalAside } from "./salvage.ts";

/** What a file of an open database is for: the data, the WAL, the index of the WAL, or the lock of a server. */
type FileRole = "database" | "WAL" | "shared-memory" | "lock";

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
export class FileLoss extends Error {
  readonly event: string;
  readonly remedy: string;

  constructor(event: string, remedy: string) {
    super(`${event}: ${remedy}`);
    this.event = event;
    this.remedy = remedy;
  }
}

const IN_WAL: ReadonlySet<FileRole> = new Set(["shared-memory", "WAL"]);
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** What to do about a file that is missing, replaced or truncated. */
const REMEDIES: Record<FileRole, string> = {
  database: `move the original back, with its WAL beside it, or restore a backup: ${RESTORE_COMMAND}`,
  WAL: `writes since the last checkpoint may be lost: move the original back, or restore a backup (${RESTORE_COMMAND}), or run "plantstore check" and start again with what is left`,
  "shared-memory": "start again: SQLite rebuilds it from the WAL",
  lock: "leave this file in place, make sure that only one server runs on the database, then start again",
};

/**
 * Identifies a file that was just opened.
 * @throws FileLoss when it is missing
 */
export function identify(role: FileRole, path: string): OpenFile {
  const found = find(role, path);
  if (found === undefined) throw lossOf({ role, path }, "was moved or deleted", REMEDIES[role]);
  return found;
}

/** Identifies a database file, its WAL and its shared-memory file, which exist once a connection in WAL mode has read. */
export const identifyDatabase = (path: string): OpenFile[] => [
  identify("database", path),
  // Before the WAL, whose frames are counted in shared memory: reading it after a truncation is a SIGBUS.
  identify("shared-memory", `${path}-shm`),
  identify("WAL", `${path}-wal`),
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
  readonly #wal: OpenFile;
  #files: readonly OpenFile[];
  #walFrames = 0;

  /**
   * `db` is a connection to the database that `files` identify.
   * @throws FileLoss when it is not
   */
  constructor(db: Database, files: readonly OpenFile[]) {
    this.#db = db;
    this.#walState = db.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#pageBytes = Number(pragma(db, "PRAGMA page_size"));
    this.#files = files;
    this.#wal = files.find(({ role }) => role === "WAL") as OpenFile;
    this.#walDescriptor = openSync(this.#wal.path, "r");
    this.check();
  }

  /** Frames in the WAL at the last check. */
  get walFrames(): number {
    return this.#walFrames;
  }

  /** @throws FileLoss with the file, what happened to it and the remedy, when one is missing, replaced or truncated */
  check(): void {
    this.#checkFiles(() => true);
  }

  /** Checks only the WAL and its index. @throws FileLoss */
  checkWal(): void {
    this.#checkFiles(({ role }) => IN_WAL.has(role));
  }

  /** Closes the descriptor of the WAL. */
  close(): void {
    closeSync(this.#walDescriptor);
  }

  #checkFiles(isDue: (file: OpenFile) => boolean): void {
    try {
      this.#files = this.#files.map((file) => (isDue(file) ? this.#check(file) : file));
    } catch (error) {
      // Whichever file was lost first: a deleted WAL is readable as long as this process runs only.
      if (error instanceof FileLoss && this.#isWalDeleted() && rewriteWal(this.#wal.path, this.#walDescriptor)) {
        const remedy = error.remedy === REMEDIES.WAL ? "start again" : error.remedy;
        throw new FileLoss(error.event, `the content of the deleted WAL was written back: ${remedy}`);
      }
      throw error;
    }
  }

  /** Whether the path of the WAL is free, and does not belong to another database that replaced this one. */
  #isWalDeleted(): boolean {
    const { path, id } = this.#files.find(({ role }) => role === "database") as OpenFile;
    const database = find("database", path);
    return find("WAL", this.#wal.path) === undefined && (database === undefined || database.id === id);
  }

  #check(file: OpenFile): OpenFile {
    const { role, path } = file;
    const remedy = REMEDIES[role];
    const leastBytes = role === "WAL" ? this.#leastWalBytes() : file.bytes;
    const found = find(role, path);
    if (found === undefined) throw lossOf(file, "was moved or deleted", remedy);
    if (found.id !== file.id) {
      const aside = role === "database" ? this.#setWalAside() : undefined;
      const kept = aside === undefined ? "" : `; to use the new file, start again: the original's WAL is now ${aside}`;
      throw lossOf(file, "was replaced by another file", remedy + kept);
    }
    if (found.bytes < leastBytes && this.#isTruncated(found)) {
      throw lossOf(file, `was truncated to ${found.bytes} bytes`, remedy);
    }
    return found;
  }

  /** Whether a file is smaller than expected because of something else than SQLite in another process. */
  #isTruncated({ role, path, bytes }: OpenFile): boolean {
    // It may have restarted and truncated the WAL after the frames were counted: now there are fewer.
    if (role === "WAL") return this.#leastWalBytes() > identify(role, path).bytes;
    // A VACUUM makes the database smaller, and the number of its pages too.
    return role !== "database" || bytes < Number(pragma(this.#db, "PRAGMA page_count")) * this.#pageBytes;
  }

  /** The size that the frames of the WAL need (https://sqlite.org/fileformat.html, 4.1). */
  #leastWalBytes(): number {
    const [, frames] = this.#walState.values()[0] as [busy: bigint, frames: bigint];
    this.#walFrames = Number(frames);
    return frames === 0n ? 0 : WAL_HEADER_BYTES + this.#walFrames * (FRAME_HEADER_BYTES + this.#pageBytes);
  }

  #setWalAside(): string | undefined {
    const { path, id } = this.#wal;
    return find("WAL", path)?.id === id ? setWalAside(path) : undefined;
  }
}

function find(role: FileRole, path: string): OpenFile | undefined {
  try {
    // Not following links: the WAL of a file that is reached through a new link would have another name.
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && { role, path, id: `${stats.dev}:${stats.ino}`, bytes: Number(stats.size) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw new FileLoss(`the ${role} file ${path} cannot be checked any more`, (error as Error).message);
  }
}

function lossOf({ role, path }: Pick<OpenFile, "role" | "path">, event: string, remedy: string): FileLoss {
  const folder = dirname(path);
  return existsSync(folder)
    ? new FileLoss(`the ${role} file ${path} ${event} while it was in use`, remedy)
    : new FileLoss(
        `the folder ${folder} of the database was moved or deleted while it was in use`,
        `move it back, or restore a backup: ${RESTORE_COMMAND}`,
      );
}
