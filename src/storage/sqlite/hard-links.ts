import { lstatSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** What a restore appends to the name of the database that it replaces, before the time. */
export const ASIDE_SUFFIX = ".replaced-";

/**
 * Refuses a database file with several names. SQLite derives the names of the WAL and of the lock from the name that it
 * opens, so each name has its own and two servers corrupt the file (https://sqlite.org/howtocorrupt.html, 2.5).
 * @throws Error with the number of names and the remedy
 */
export function refuseHardLinks(path: string): void {
  const links = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1;
  if (links <= 1) return;
  const [left] = secondNames(path);
  const remedy =
    left === undefined
      ? `find the others with "find / -samefile ${path}" and delete them, or use a copy`
      : `${left} was left by an interrupted restore: delete it, or start the server, which does so`;
  throw new Error(`the database ${path} has ${links} hard links, and each would have its own WAL and lock: ${remedy}`);
}

/** Deletes the second name that an interrupted restore left to the database. The caller holds the server lock. */
export function removeSecondNames(path: string): void {
  for (const left of secondNames(path)) rmSync(left);
}

/** The names in the folder that a restore gave to the file at `path`, which still has its own name. */
function secondNames(path: string): string[] {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || file.nlink === 1) return [];
  const prefix = basename(path) + ASIDE_SUFFIX;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix))
    .map((name) => join(dirname(path), name))
    .filter((each) => {
      const { dev, ino } = lstatSync(each);
      return dev === file.dev && ino === file.ino;
    });
}
