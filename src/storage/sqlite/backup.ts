import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DAMAGE_REMEDY } from "./failures.ts";
import { bytesOf, realPath, sync } from "./files.ts";
import type { Contents } from "./inspection.ts";
import type { Report, Task } from "./reader-thread.ts";
import { logBytes } from "./recovery.ts";

/**
 * While a database is read in one go, the server's log cannot be written back and grows by all that is written. Beyond
 * this the server would need seconds for it afterwards, and the disk might fill up.
 */
const MAX_LOG_BYTES = 1024 * 1024 * 1024;
const WATCH_EVERY_MS = 100;

/** How long a copy may go on. */
export interface CopyOptions {
  /** Ends it early; nothing is left behind. */
  readonly signal?: AbortSignal | undefined;
  /** The log of the server beside it may grow up to this. */
  readonly maxLogBytes?: number;
}

/** A copy that was made and found sound. */
export interface Copied extends Contents {
  readonly bytes: number;
}

/**
 * Copies a database, which a server may be writing to, into a new file: one moment of it, compact, synced, and found
 * sound. The server is not held up.
 * @throws Error when `target` exists, or the copy cannot be made; then nothing is left of it
 */
export async function backUp(source: string, target: string, options: CopyOptions = {}): Promise<Copied> {
  const requireNew = () => {
    if (existsSync(target)) throw new Error(`${target} is there already: name a new file`);
  };
  requireNew();
  const place = (copy: string) => {
    requireNew();
    renameSync(copy, target);
  };
  return withCopy({ source, target, remedy: DAMAGE_REMEDY, place }, options);
}

/**
 * Looks through a database, which a server may be writing to.
 * @returns what is in it, or what is wrong with it, at least one thing
 * @throws Error when it cannot be read, or is none of this program's
 */
export async function check(
  path: string,
  options: CopyOptions = {},
): Promise<Contents | { faults: readonly string[] }> {
  requireThere(path);
  const report = await onThread({ check: path }, path, options);
  return "contents" in report ? report.contents : report;
}

/** What is copied, beside what, what to do when it is damaged, and what becomes of the copy. */
interface Copying {
  readonly source: string;
  readonly target: string;
  readonly remedy: string;
  place(copy: string): void;
}

/** Makes a sound copy in a folder of its own beside `target`, and lets `place` take it from there. */
export async function withCopy({ source, target, remedy, place }: Copying, options: CopyOptions): Promise<Copied> {
  const parent = dirname(target);
  if (!existsSync(parent)) throw new Error(`there is no folder ${parent}: make it first`);
  requireThere(source);
  requireRoom(bytesOf(source) + logBytes(source), parent);
  const folder = mkdtempSync(`${target}.partial-`);
  try {
    const copy = join(folder, basename(target));
    const report = await onThread({ copy: source, to: copy }, source, options);
    if ("faults" in report) throw new Error(`${source} is no sound database (${report.faults[0]}); ${remedy}`);
    chmodSync(copy, 0o600);
    sync(copy);
    const { size: bytes } = statSync(copy);
    place(copy);
    sync(parent);
    return { ...report.contents, bytes };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function requireThere(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no database ${path}`);
}

/** A copy that fills the disk would take the server's writes with it. */
function requireRoom(bytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new Error(`the copy may need ${bytes} bytes, and ${folder} has ${free} left: make room, or name another disk`);
}

type Finding = Exclude<Report, { failure: string }>;

/** Does one task on a thread of its own, and gives it up when it is told to, or when the log beside `source` grows too long. */
async function onThread(task: Task, source: string, options: CopyOptions): Promise<Finding> {
  const { signal, maxLogBytes = MAX_LOG_BYTES } = options;
  const { promise, resolve, reject } = Promise.withResolvers<Finding>();
  const thread = new Worker(new URL("./reader-thread.ts", import.meta.url).href);
  thread.onmessage = ({ data }: MessageEvent<Report>) =>
    "failure" in data ? reject(new Error(data.failure)) : resolve(data);
  thread.onerror = ({ message }) => reject(new Error(message));
  signal?.addEventListener("abort", () => reject(new Error("interrupted")));
  const file = realPath(source);
  const watch = () => {
    if (logBytes(file) <= maxLogBytes) return;
    reject(new Error(`the server has written ${maxLogBytes} bytes meanwhile, too many: try again when it writes less`));
  };
  const watching = setInterval(watch, WATCH_EVERY_MS);
  watch();
  thread.postMessage(task);
  try {
    return await promise;
  } finally {
    clearInterval(watching);
    thread.terminate();
  }
}
