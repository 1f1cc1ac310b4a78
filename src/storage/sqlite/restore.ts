import type { Database } from "bun:sqlite";
import { chmodSync, chownSync, existsSync, mkdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type CopyResult, copyDatabase, type ReadOptions } from "./backup.ts";
import { connect, queryValue } from "./connection.ts";
import { isEmpty, newKeptPath, rejectHardLinks, SUFFIXES } from "./database-files.ts";
import { codeOf, isDamage } from "./errors.ts";
import { realPath, renameDurably } from "./file-system.ts";
import { lockForServer } from "./lock.ts";

/** Suffixes of the files that are kept: SQLite would apply a WAL and a journal to any database of that name. */
const KEPT_SUFFIXES = [SUFFIXES.database, SUFFIXES.WAL, "-journal"];

/** The result of a restore; `keptPath` is the new path of the replaced database. */
export interface RestoreResult extends CopyResult {
  readonly keptPath: string | undefined;
}

/**
 * Copies a backup, checks the copy and renames it to `path`. A database at `path` is replaced only when `isForced`, and then
 * kept beside it under another name.
 * @throws Error when a server runs on the database, or the backup cannot be used; then nothing changes
 */
export async function restore(
  source: string,
  path: string,
  { isForced, ...options }: ReadOptions & { readonly isForced: boolean },
): Promise<RestoreResult> {
  if (!existsSync(source)) throw new Error(`${source} does not exist`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = realPath(path);
  if (realpathSync(source) === file) throw new Error(`${source} is the database itself: use a backup of it`);
  const lock = lockForServer(file);
  try {
    rejectHardLinks(file);
    const exists = KEPT_SUFFIXES.some((suffix) => existsSync(file + suffix));
    if (exists && !isForced)
      throw new Error(`${file} already exists: use --force to replace it; it is kept under another name`);
    const keptPath = exists ? newKeptPath(file) : undefined;
    const beforeRename = (copy: string) => {
      if (existsSync(file)) copyOwnership(file, copy);
      if (keptPath !== undefined) setAside(file, keptPath);
    };
    const copied = await copyDatabase(source, file, { ...options, remedy: "use another backup", beforeRename });
    return { ...copied, keptPath };
  } finally {
    lock.release();
  }
}

/**
 * Renames the old database and the files that SQLite would apply to the new one. Until the new one has its name, the file at
 * `keptPath` prevents other processes from creating an empty database (see `rejectLostDatabase`).
 */
function setAside(file: string, keptPath: string): void {
  using _lock = lockExclusively(file);
  for (const suffix of KEPT_SUFFIXES) {
    if (existsSync(file + suffix)) renameDurably(file + suffix, keptPath + suffix);
  }
  rmSync(file + SUFFIXES["shared-memory"], { force: true });
}

/**
 * Checkpoints the WAL of a database and locks it exclusively. Returns `undefined` and changes nothing if the database is too
 * damaged.
 * @throws Error when the checkpoint or the lock fails, for example because another process has the database open
 */
function lockExclusively(file: string): Database | undefined {
  if (isEmpty(file)) return undefined;
  let db: Database | undefined;
  try {
    db = connect(file, { create: false });
    db.run("PRAGMA journal_mode = DELETE");
    db.run("BEGIN EXCLUSIVE");
    if (queryValue(db, "PRAGMA journal_mode") !== "delete") throw new Error("cannot checkpoint its WAL");
    return db;
  } catch (error) {
    db?.close(true);
    if (isDamage(codeOf(error))) return undefined;
    const reason = `${(error as Error).message}; if another process uses it, wait until that process finishes`;
    throw new Error(`cannot replace ${file}: ${reason}`, { cause: error });
  }
}

/** Copies the owner and mode of the old file, because the server may run as a different user than the restore. */
function copyOwnership(old: string, copy: string): void {
  const { uid, gid, mode } = statSync(old);
  chmodSync(copy, mode);
  const { uid: copyUid, gid: copyGid } = statSync(copy);
  if (uid !== copyUid || gid !== copyGid) chownSync(copy, uid, gid);
}
