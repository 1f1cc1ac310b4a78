/**
 * The thread that owns the only writing connection of this process: it commits one group of writes a message.
 * It has a thread of its own because an fsync blocks it, and nobody else.
 */
import { connect, makeDurable } from "./connection.ts";
import { codeOf, isLoss } from "./failures.ts";
import { prepareWrites, type Write, type Writes } from "./writes.ts";

/** To the thread: open the file, commit a group, or checkpoint and close. */
export type Request = { open: string } | { group: readonly Write[] } | { close: true };
/** From the thread, one for every request in order: the result of each write, or the failure of all. */
export type Reply = { results: readonly unknown[] } | { failure: { code: string | undefined; message: string } };
/** From the thread, at any time, with SQLite's code: the disk may have lost writes, and nothing is to be asked any more. */
export type Loss = { loss: string };

declare const self: Worker;

/**
 * Writing the log back costs two fsyncs and a write for each page that changed: 8 times rarer than SQLite's default
 * makes inserts at random ids a third faster (measured 2026-11). The log then stays at about 32 MiB.
 */
const CHECKPOINT_PAGES = 8_000;

let db: ReturnType<typeof connect>;
let writes: Writes;
let logLength: ReturnType<typeof db.prepare>;

// JSON texts, not objects: a structured clone takes three times as long (measured 2026-11: 670 ns a write against 240).
const post = (message: Reply | Loss) => self.postMessage(JSON.stringify(message));

self.onmessage = ({ data }: MessageEvent<string>) => {
  const request = JSON.parse(data) as Request;
  const answer = attempt(() => run(request));
  post(answer);
  if ("loss" in answer || !("group" in request)) return;
  // Nobody waits for the log to be written back. If a full disk does not let it, it is tried after the next group.
  const outcome = attempt(checkpointWhenDue);
  if ("loss" in outcome) post(outcome);
};

function attempt(work: () => readonly unknown[]): Reply | Loss {
  try {
    return { results: work() };
  } catch (error) {
    if (db?.inTransaction) db.run("ROLLBACK");
    const code = codeOf(error);
    return code !== undefined && isLoss(code) ? { loss: code } : { failure: { code, message: String(error) } };
  }
}

function run(request: Request): readonly unknown[] {
  if ("group" in request) return commit(request.group);
  if ("open" in request) open(request.open);
  else close();
  return [];
}

function open(path: string): void {
  db = connect(path);
  makeDurable(db);
  // SQLite's own checkpoints pass over a failed fsync in silence.
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`);
  logLength = db.prepare("PRAGMA wal_checkpoint(NOOP)");
  writes = prepareWrites(db);
}

function checkpointWhenDue(): readonly unknown[] {
  const [, length] = logLength.values()[0] as [busy: bigint, length: bigint];
  if (length >= CHECKPOINT_PAGES) checkpoint();
  return [];
}

/** Writes the log back, without waiting for readers: what one still needs stays in the log until the next time. */
function checkpoint(): void {
  db.run("PRAGMA wal_checkpoint(PASSIVE)");
}

function commit(group: readonly Write[]): unknown[] {
  db.run("BEGIN IMMEDIATE");
  const results = group.map(([name, ...args]) => (writes[name] as (...args: unknown[]) => unknown).apply(writes, args));
  db.run("COMMIT");
  return results;
}

function close(): void {
  try {
    checkpoint();
  } catch (error) {
    // The next start finds the log as it is. Closing after a loss would write it back without its lost pages.
    if (isLoss(codeOf(error))) throw error;
  }
  // Whoever closes the last connection of all also removes the log.
  db.close(true);
}
