/**
 * The writer thread: it owns the only writing connection of this process and commits one batch per message. An fsync blocks
 * this thread only.
 */
import { connect, makeDurable } from "./connection.ts";
import { codeOf, isFsyncFailure } from "./failures.ts";
import { FileLoss, type OpenFile, OpenFiles } from "./open-files.ts";
import { prepareWrites, type Write, type Writes } from "./writes.ts";

/** To the thread: open the file, commit a batch, or checkpoint and close. */
export type Request = { open: string; files: readonly OpenFile[] } | { batch: readonly Write[] } | { close: true };
/** From the thread, one for each request in order: the result of each write, or the failure of all. */
export type Reply = { results: readonly unknown[] } | { failure: { code: string | undefined; message: string } };
/** From the thread, at any time, with cause and remedy: writes may be lost, and the thread no longer uses the database. */
export type Loss = { loss: string };

declare const self: Worker;

/**
 * A checkpoint costs two fsyncs and a write for each changed page. At 8 times the interval of SQLite's default, inserts at
 * random ids are a third faster (measured 2026-11). The WAL stays at about 32 MiB.
 */
const CHECKPOINT_PAGES = 8_000;
/** Interval of file checks, which matters while there are no writes. */
const CHECK_EVERY_MS = 1_000;

let db: ReturnType<typeof connect>;
let writes: Writes;
let files: OpenFiles;
let isLost = false;

// JSON text, because a structured clone takes three times as long (measured 2026-11: 670 ns per write against 240).
const post = (message: Reply | Loss) => self.postMessage(JSON.stringify(message));

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request = JSON.parse(data) as Request;
  perform(() => run(request), true);
  // No write waits for the checkpoint. If a full disk prevents it, the next batch tries again.
  if ("batch" in request) perform(checkpointWhenDue, false);
};

/** Does some work and posts its outcome: a reply if it was requested, a loss in any case, and nothing after a loss. */
function perform(work: () => readonly unknown[], isRequested: boolean): void {
  if (isLost) return;
  const outcome = attempt(work);
  isLost = "loss" in outcome;
  if (isLost || isRequested) post(outcome);
}

function attempt(work: () => readonly unknown[]): Reply | Loss {
  try {
    return { results: work() };
  } catch (error) {
    if (db?.inTransaction) db.run("ROLLBACK");
    const loss = lossOf(error);
    return loss === undefined ? { failure: { code: codeOf(error), message: String(error) } } : { loss };
  }
}

/** Why writes may be lost, and the remedy; `undefined` for any other failure. */
function lossOf(error: unknown): string | undefined {
  if (error instanceof FileLoss) return error.message;
  const code = codeOf(error);
  if (!isFsyncFailure(code)) return undefined;
  return `the disk failed to keep a write (${code}): check the disk, then start again; acknowledged writes are not lost`;
}

function run(request: Request): readonly unknown[] {
  if ("batch" in request) return commit(request.batch);
  if ("open" in request) open(request.open, request.files);
  else close();
  return [];
}

function open(path: string, opened: readonly OpenFile[]): void {
  db = connect(path);
  makeDurable(db);
  // SQLite ignores a failed fsync in its automatic checkpoints.
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  files = new OpenFiles(db, opened);
  setInterval(() => perform(checkFiles, false), CHECK_EVERY_MS);
  writes = prepareWrites(db);
}

function checkFiles(): readonly unknown[] {
  files.check();
  return [];
}

function checkpointWhenDue(): readonly unknown[] {
  if (files.walFrames >= CHECKPOINT_PAGES) checkpoint();
  return [];
}

/** Checkpoints without waiting for readers: frames that a reader needs stay in the WAL until the next time. */
function checkpoint(): void {
  files.check();
  db.run("PRAGMA wal_checkpoint(PASSIVE)");
}

function commit(batch: readonly Write[]): unknown[] {
  // The commit would extend a truncated WAL to its former size, with a hole in it.
  files.checkWal();
  db.run("BEGIN IMMEDIATE");
  const results = batch.map(([name, ...args]) => (writes[name] as (...args: unknown[]) => unknown).apply(writes, args));
  db.run("COMMIT");
  files.check();
  return results;
}

function close(): void {
  try {
    checkpoint();
  } catch (error) {
    // The next start recovers from the WAL. Closing after a loss would checkpoint it without its lost pages.
    if (lossOf(error) !== undefined) throw error;
  }
  files.close();
  // Closing the last connection to the database removes the WAL.
  db.close(true);
}
