/**
 * The thread that reads a whole database, to copy or to check it. Both are single statements that take seconds with millions
 * of plants; meanwhile the main thread handles stop signals and watches the size of the WAL.
 */
import type { Database } from "bun:sqlite";
import { connect } from "./connection.ts";
import { codeOf, isDamage } from "./failures.ts";
import { type Contents, countContents, findRowProblems, findStructureProblems, requireOurs } from "./inspection.ts";

/** To the thread, once: copy a database to a new file and check the copy, or check a database. */
export type Task = { readonly copy: string; readonly to: string } | { readonly check: string };
/** From the thread, once: the contents of a sound database, the problems of another, or why the task failed. */
export type Report =
  | { readonly contents: Contents }
  | { readonly faults: readonly string[] }
  | { readonly failure: string };

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Task>) => self.postMessage(report(data));

function report(task: Task): Report {
  try {
    return "copy" in task ? copy(task.copy, task.to) : withDatabase(task.check, inspectThoroughly);
  } catch (error) {
    const { message, cause } = error as Error;
    return isDamage(codeOf(error))
      ? { faults: [cause instanceof Error ? cause.message : message] }
      : { failure: message };
  }
}

function copy(source: string, target: string): Report {
  withDatabase(source, (db) => {
    requireOurs(db);
    db.prepare("VACUUM INTO ?").run(target);
  });
  return withDatabase(target, inspect);
}

function inspect(db: Database): Report {
  requireOurs(db);
  const faults = findStructureProblems(db);
  return faults.length > 0 ? { faults } : { contents: countContents(db) };
}

function inspectThoroughly(db: Database): Report {
  const report = inspect(db);
  const faults = "contents" in report ? findRowProblems(db) : [];
  return faults.length > 0 ? { faults } : report;
}

function withDatabase<Result>(path: string, use: (db: Database) => Result): Result {
  const db = connect(path, { create: false });
  try {
    return use(db);
  } finally {
    db.close(true);
  }
}
