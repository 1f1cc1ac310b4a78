/**
 * The writer thread: it owns the only writing connection of this process and commits one batch per message. An fsync blocks
 * this thread only.
 */
import { connect, makeDurable } from "./connection.ts";
import { codeOf, isFsyncFailure } from "./errors.ts";
import { FileLoss, type OpenFile, OpenFiles } from "./open-files.ts";
import { prepareWrites, type Write, type WriteResult } from "./writes.ts";

/** To the thread: open the file, commit a batch, or checkpoint and close. */
export type Request = { open: string; files: readonly OpenFile[] } | { batch: readonly Write[] } | { close: true };
/** From the thread, one for each request in order: the result of each write, or the failure of all. */
export type Reply = { results: readonly WriteResult[] } | { failure: Failure };
type Failure = { code: string | undefined; message: string };
/** From the thread, at any time, with cause and remedy: writes may be lost, and the thread no longer uses the database. */
export type Loss = { loss: string };

declare const self: Worker;

/**
 * Length of the WAL at which it is checkpointed, 8 times SQLite's default. A checkpoint costs two fsyncs and a write for each
 * changed page. Inserts at random ids are a third faster than with the default (measured 2026-11), and the WAL stays at about
 * 32 MiB.
 */
const CHECKPOINT_PAGES = 8_000;
/** Interval of file checks between batches. */
const CHECK_EVERY_MS = 1_000;

let db: ReturnType<typeof connect>;
let perform: ReturnType<typeof prepareWrites>;
let files: OpenFiles;
let isLost = false;

// JSON text, because a structured clone takes three times as long (measured 2026-11: 670 ns per write against 240).
const post = (message: Reply | Loss) => self.postMessage(JSON.stringify(message));

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request = JSON.parse(data) as Request;
  attempt(
    () => post({ results: run(request) }),
    (failure) => post({ failure }),
  );
  // No write waits for the checkpoint. If a full disk prevents it, the next batch tries again.
  if ("batch" in request) attempt(checkpointWhenDue);
};

/** Runs `work`, unless writes may be lost. Posts a loss; passes any other failure to `onFailure`. */
function attempt(work: () => void, onFailure: (failure: Failure) => void = () => {}): void {
  if (isLost) return;
  try {
    work();
  } catch (error) {
    if (db?.inTransaction) db.run("ROLLBACK");
    const loss = lossOf(error);
    isLost = loss !== undefined;
    if (loss === undefined) onFailure({ code: codeOf(error), message: String(error) });
    else post({ loss });
  }
}

/** Returns the cause and the remedy if writes may be lost, or `undefined` for any other failure. */
function lossOf(error: unknown): string | undefined {
  if (error instanceof FileLoss) return error.message;
  const code = codeOf(error);
  if (!isFsyncFailure(code)) return undefined;
  return `the disk failed to store a write (${code}): check the disk, then start again; acknowledged writes are not lost`;
}

function run(request: Request): readonly WriteResult[] {
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
  setInterval(() => attempt(() => files.check()), CHECK_EVERY_MS);
  perform = prepareWrites(db);
}

function checkpointWhenDue(): void {
  if (files.walFrames >= CHECKPOINT_PAGES) checkpoint();
}

/** Checkpoints without waiting for readers: frames that a reader needs stay in the WAL until the next checkpoint. */
function checkpoint(): void {
  files.check();
  db.run("PRAGMA wal_checkpoint(PASSIVE)");
}

function commit(batch: readonly Write[]): readonly WriteResult[] {
  // The commit would extend a truncated WAL to its former size, with a hole in it.
  files.checkWal();
  db.run("BEGIN IMMEDIATE");
  const results = batch.map(perform);
  db.run("COMMIT");
  files.check();
  return results;
}

function close(): void {
  try {
    checkpoint();
  } catch (error) {
    // After any other failure, the next start recovers from the WAL. After a loss, closing would checkpoint the WAL without its
    // lost pages.
    if (lossOf(error) !== undefined) throw error;
  }
  files.close();
  // Closing the last connection to the database removes the WAL.
  db.close(true);
}
