import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DAMAGE_REMEDY } from "./failures.ts";
import { bytesOf, realPath, sync } from "./files.ts";
import type { Contents } from "./inspection.ts";
import type { Report, Task } from "./reader-thread.ts";
import { walBytes } from "./recovery.ts";

/**
 * The limit on the server's WAL, which cannot be checkpointed while one statement reads the database. A larger one would
 * take seconds to checkpoint afterwards, and might fill the disk.
 */
const MAX_LOG_BYTES = 1024 * 1024 * 1024;
const WATCH_EVERY_MS = 100;

/** Limits of a copy. */
export interface CopyOptions {
  /** Aborts the copy; no file is left. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum size of the WAL of a server on the database. */
  readonly maxLogBytes?: number;
}

/** A copy that passed the check. */
export interface Copied extends Contents {
  readonly bytes: number;
}

/**
 * Copies one snapshot of a database to a new file, compact, synced and checked. A server may write to the database meanwhile
 * and is not delayed.
 * @throws Error when `target` exists, or the copy fails; then no file is left
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
 * Checks a database, which a server may be using.
 * @returns its contents, or one problem or more
 * @throws Error when it cannot be read, or is a database of another program
 */
export async function check(
  path: string,
  options: CopyOptions = {},
): Promise<Contents | { faults: readonly string[] }> {
  requireThere(path);
  const report = await onThread({ check: path }, path, options);
  return "contents" in report ? report.contents : report;
}

/** A copy task: source, target, the remedy for a damaged source, and the function that places the copy. */
interface Copying {
  readonly source: string;
  readonly target: string;
  readonly remedy: string;
  place(copy: string): void;
}

/** Makes and checks a copy in a new folder beside `target`, then calls `place` with its path. */
export async function withCopy({ source, target, remedy, place }: Copying, options: CopyOptions): Promise<Copied> {
  const parent = dirname(target);
  if (!existsSync(parent)) throw new Error(`there is no folder ${parent}: make it first`);
  requireThere(source);
  requireRoom(bytesOf(source) + walBytes(source), parent);
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

/** Fails when there is not enough space: a full disk would also stop the server's writes. */
function requireRoom(bytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new Error(`the copy may need ${bytes} bytes, and ${folder} has ${free} left: make room, or name another disk`);
}

type Finding = Exclude<Report, { failure: string }>;

/** Runs a task on a thread of its own. Aborts it on the signal, or when the WAL of `source` exceeds the limit. */
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
    if (walBytes(file) <= maxLogBytes) return;
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
