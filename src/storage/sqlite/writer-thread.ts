/**
 * The thread that owns the only writing connection of this process: it commits one group of writes a message.
 * It has a thread of its own because an fsync blocks it, and nobody else.
 */
import { connect, makeDurable } from "./connection.ts";
import { codeOf, isLoss } from "./failures.ts";
import { FileLoss, type OpenFile, OpenFiles } from "./open-files.ts";
import { prepareWrites, type Write, type Writes } from "./writes.ts";

/** To the thread: open the file, commit a group, or checkpoint and close. */
export type Request = { open: string; files: readonly OpenFile[] } | { group: readonly Write[] } | { close: true };
/** From the thread, one for every request in order: the result of each write, or the failure of all. */
export type Reply = { results: readonly unknown[] } | { failure: { code: string | undefined; message: string } };
/** From the thread, at any time, with cause and remedy: writes may be lost, and the thread does not use the database any more. */
export type Loss = { loss: string };

declare const self: Worker;

/**
 * Writing the log back costs two fsyncs and a write for each page that changed: 8 times rarer than SQLite's default
 * makes inserts at random ids a third faster (measured 2026-11). The log then stays at about 32 MiB.
 */
const CHECKPOINT_PAGES = 8_000;
/** How often the files are checked while no writes come. */
const CHECK_EVERY_MS = 1_000;

let db: ReturnType<typeof connect>;
let writes: Writes;
let files: OpenFiles;
let isLost = false;

// JSON texts, not objects: a structured clone takes three times as long (measured 2026-11: 670 ns a write against 240).
const post = (message: Reply | Loss) => self.postMessage(JSON.stringify(message));

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request = JSON.parse(data) as Request;
  perform(() => run(request), true);
  // No write waits for the checkpoint. If a full disk prevents it, the next batch tries again.
  if ("group" in request) perform(checkpointWhenDue, false);
};

/** Does some work and posts its outcome: a reply if a request waits for it, a loss always, and nothing after a loss. */
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
  if (!isLoss(code)) return undefined;
  return `the disk failed to keep a write (${code}): check the disk, then start again; acknowledged writes are not lost`;
}

function run(request: Request): readonly unknown[] {
  if ("group" in request) return commit(request.group);
  if ("open" in request) open(request.open, request.files);
  else close();
  return [];
}

function open(path: string, opened: readonly OpenFile[]): void {
  db = connect(path);
  makeDurable(db);
  // SQLite's own checkpoints pass over a failed fsync in silence.
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

/** Writes the log back, without waiting for readers: what one still needs stays in the log until the next time. */
function checkpoint(): void {
  files.check();
  db.run("PRAGMA wal_checkpoint(PASSIVE)");
}

function commit(group: readonly Write[]): unknown[] {
  // The commit would extend a truncated WAL to its former size, with a hole in it.
  files.checkWal();
  db.run("BEGIN IMMEDIATE");
  const results = group.map(([name, ...args]) => (writes[name] as (...args: unknown[]) => unknown).apply(writes, args));
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
  // The last connection of all to close removes the WAL.
  db.close(true);
}
