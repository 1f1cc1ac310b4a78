import type { Database } from "bun:sqlite";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Copied, type CopyOptions, withCopy } from "./backup.ts";
import { connect, pragma } from "./connection.ts";
import { codeOf, isDamage } from "./failures.ts";
import { beginsAsDatabase, realPath, timestamp } from "./files.ts";
import { ASIDE_SUFFIX, refuseHardLinks, removeSecondNames } from "./hard-links.ts";
import { lockForServer } from "./lock.ts";

/** Suffixes of the files beside a database that SQLite would apply to any database of that name. */
const COMPANIONS = ["-wal", "-journal"];

/** The result of a restore; `aside` is the new path of the database that was replaced. */
export interface Restored extends Copied {
  readonly aside: string | undefined;
}

/**
 * Copies a backup, checks the copy and renames it to `path`. A database at `path` is replaced only when `isForced`, and then
 * kept beside it under another name.
 * @throws Error when a server runs on the database, or the backup cannot be used; then nothing changes
 */
export async function restore(
  source: string,
  path: string,
  { isForced, ...options }: CopyOptions & { readonly isForced: boolean },
): Promise<Restored> {
  if (!existsSync(source)) throw new Error(`there is no backup ${source}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = realPath(path);
  if (realpathSync(source) === file) throw new Error(`${source} is the database itself: name a backup of it`);
  const lock = lockForServer(file);
  try {
    removeSecondNames(file);
    refuseHardLinks(file);
    const isThere = ["", ...COMPANIONS].some((suffix) => existsSync(file + suffix));
    if (isThere && !isForced) throw new Error(`${file} is there already: --force puts it aside first`);
    const aside = isThere ? `${file}${ASIDE_SUFFIX}${timestamp(new Date())}` : undefined;
    const place = (copy: string) => (aside === undefined ? renameSync(copy, file) : replace(file, copy, aside));
    const copied = await withCopy({ source, target: file, remedy: "use another backup", place }, options);
    return { ...copied, aside };
  } finally {
    lock.release();
  }
}

/** Links the old file to a second name, then renames the new file over the first: the path always leads to a database. */
function replace(file: string, copy: string, aside: string): void {
  const old = openExclusively(file);
  try {
    if (existsSync(file)) {
      copyOwnership(file, copy);
      linkSync(file, aside);
    }
    for (const suffix of COMPANIONS) {
      if (old !== undefined) rmSync(file + suffix, { force: true });
      else if (existsSync(file + suffix)) renameSync(file + suffix, aside + suffix);
    }
    rmSync(`${file}-shm`, { force: true });
    renameSync(copy, file);
  } finally {
    old?.close(true);
  }
}

/**
 * Checkpoints the WAL of the old database and locks the database exclusively. Returns `undefined`, and changes nothing, when
 * it is too damaged for that.
 * @throws Error when that fails, for example because another process has the database open
 */
function openExclusively(file: string): Database | undefined {
  // SQLite discards the WAL of a file that it treats as empty.
  if (!existsSync(file) || !beginsAsDatabase(file)) return undefined;
  let db: Database | undefined;
  try {
    db = connect(file, { create: false });
    db.run("PRAGMA locking_mode = EXCLUSIVE");
    if (pragma(db, "PRAGMA journal_mode = DELETE") !== "delete") throw new Error("its log cannot be written back");
    db.run("BEGIN EXCLUSIVE");
    return db;
  } catch (error) {
    db?.close(true);
    if (isDamage(codeOf(error))) return undefined;
    const reason = `${(error as Error).message}; if another process uses it, wait until that is done`;
    throw new Error(`${file} cannot be put aside: ${reason}`, { cause: error });
  }
}

/** Copies owner and mode of the old file: the server may run as another user than the one who restores. */
function copyOwnership(old: string, made: string): void {
  const { uid, gid, mode } = statSync(old);
  chmodSync(made, mode);
  const { uid: madeUid, gid: madeGid } = statSync(made);
  if (uid !== madeUid || gid !== madeGid) chownSync(made, uid, gid);
}
