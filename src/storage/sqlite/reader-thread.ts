/**
 * The thread that reads a whole database, to copy or check it. The statements for this take seconds with millions of plants;
 * meanwhile the main thread handles stop signals and watches the size of the WAL.
 */
import type { Database } from "bun:sqlite";
import { connect } from "./connection.ts";
import { codeOf, isDamage } from "./errors.ts";
import { type Inspection, inspect } from "./inspection.ts";
import { supportedVersion } from "./migrations.ts";

/** To the thread, once: check the database at `path`, or copy it to the new file `copyTo` and check the structure of the copy. */
export interface Task {
  readonly path: string;
  readonly copyTo?: string;
}
/** From the thread, once: the result, or the error of the task. */
export type TaskResult = Inspection | { readonly error: string };

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Task>) => self.postMessage(perform(data));

function perform({ path, copyTo }: Task): TaskResult {
  try {
    if (copyTo === undefined) return withDatabase(path, (db) => inspect(db, { rows: true }));
    withDatabase(path, (db) => db.prepare("VACUUM INTO ?").run(copyTo));
    return withDatabase(copyTo, (db) => inspect(db, { rows: false }));
  } catch (error) {
    const { message, cause } = error as Error;
    return isDamage(codeOf(error))
      ? { problems: [cause instanceof Error ? cause.message : message] }
      : { error: message };
  }
}

function withDatabase<Result>(path: string, use: (db: Database) => Result): Result {
  using db = connect(path, { create: false });
  if (supportedVersion(db) === 0) throw new Error(`${path} is an empty file`);
  return use(db);
}
