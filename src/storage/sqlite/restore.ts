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

/** What SQLite keeps beside a database file, and would apply to whatever file has that name. */
const COMPANIONS = ["-wal", "-journal"];

/** How a restore ended: `aside` is where the database now is that was there before. */
export interface Restored extends Copied {
  readonly aside: string | undefined;
}

/**
 * Puts a sound copy of a backup in the place of the database at `path`. The database that is there, whole or damaged,
 * is only replaced when `isForced`, and then kept beside it.
 * @throws Error when a server runs on the database, or the backup cannot be used; then nothing is changed
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

/** Gives the old file a second name, then its first name to the new one in one step: at no moment is there none. */
function replace(file: string, copy: string, aside: string): void {
  const old = takeAlone(file);
  try {
    if (existsSync(file)) {
      giveLike(file, copy);
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
 * Writes the old database's log back into it, so that nothing beside it matters any more, and keeps everybody off it.
 * One that is too damaged for that is left as it is, and `undefined` returned.
 * @throws Error when that cannot be done, for one because another process has it open
 */
function takeAlone(file: string): Database | undefined {
  // SQLite throws the log of a file away that it takes for empty.
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

/** Lets a new file belong to whom the old one belongs to: its server may run as somebody else than who restores. */
function giveLike(old: string, made: string): void {
  const { uid, gid, mode } = statSync(old);
  chmodSync(made, mode);
  const { uid: madeUid, gid: madeGid } = statSync(made);
  if (uid !== madeUid || gid !== madeGid) chownSync(made, uid, gid);
}
