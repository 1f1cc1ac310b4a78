import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { walBytes } from "./database-files.ts";
import { RESTORE_REMEDY } from "./errors.ts";
import { bytesOf, realPath, renameDurably, sync } from "./file-system.ts";
import type { Contents, Inspection } from "./inspection.ts";
import type { Task, TaskResult } from "./reader-thread.ts";

/**
 * The limit on the server's WAL, which cannot be checkpointed while a statement reads the database. A larger one would take
 * seconds to checkpoint afterwards, and might fill the disk.
 */
const MAX_WAL_BYTES = 1024 * 1024 * 1024;
const WATCH_EVERY_MS = 100;

/** Options for reading a whole database. */
export interface ReadOptions {
  /** Aborts the operation, which then deletes its files. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum size of the WAL of a server on the database. */
  readonly maxWalBytes?: number;
}

/** The contents and size of a copy. */
export interface CopyResult extends Contents {
  readonly bytes: number;
}

/**
 * Copies one snapshot of a database to a new, compact file, then syncs and checks the copy. A server can write to the
 * database meanwhile and is not delayed.
 * @throws Error when `target` exists, or the copy fails; then no file is left
 */
export async function backUp(source: string, target: string, options: ReadOptions = {}): Promise<CopyResult> {
  const requireNew = () => {
    if (existsSync(target)) throw new Error(`${target} already exists: use a new file name`);
  };
  requireNew();
  return copyDatabase(source, target, { ...options, remedy: RESTORE_REMEDY, beforeRename: requireNew });
}

/**
 * Checks a database, which a server may use meanwhile. Returns its contents, or at least one problem.
 * @throws Error when it cannot be read, or is a database of another program
 */
export function checkDatabase(path: string, options: ReadOptions = {}): Promise<Inspection> {
  return onThread({ path }, options);
}

interface CopyOptions extends ReadOptions {
  /** The remedy for a damaged source. */
  readonly remedy: string;
  /** Called with the path of the finished copy, before it is renamed to the target. */
  beforeRename(copy: string): void;
}

/** Creates and checks a copy in a new folder beside `target`, then renames it to `target`. */
export async function copyDatabase(source: string, target: string, options: CopyOptions): Promise<CopyResult> {
  const parent = dirname(target);
  if (!existsSync(parent)) throw new Error(`the folder ${parent} does not exist`);
  requireSpace(bytesOf(source) + walBytes(source), parent);
  const folder = mkdtempSync(`${target}.partial-`);
  try {
    const copy = join(folder, basename(target));
    const contents = await onThread({ path: source, copyTo: copy }, options);
    if ("problems" in contents) throw new Error(`${source} is damaged (${contents.problems[0]}): ${options.remedy}`);
    chmodSync(copy, 0o600);
    sync(copy);
    options.beforeRename(copy);
    renameDurably(copy, target);
    return { ...contents, bytes: bytesOf(target) };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Fails when there is not enough space: a full disk would also stop the server's writes. */
function requireSpace(bytes: number, folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new Error(
    `the copy may need ${bytes} bytes, and ${folder} has ${free} free: free up space, or use another disk`,
  );
}

/** Runs a task on its own thread. Aborts it on the signal, or when the WAL of the database exceeds the limit. */
async function onThread(task: Task, { signal, maxWalBytes = MAX_WAL_BYTES }: ReadOptions): Promise<Inspection> {
  if (!existsSync(task.path)) throw new Error(`${task.path} does not exist`);
  const { promise, resolve, reject } = Promise.withResolvers<Inspection>();
  const thread = new Worker(new URL("./reader-thread.ts", import.meta.url).href);
  thread.onmessage = ({ data }: MessageEvent<TaskResult>) =>
    "error" in data ? reject(new Error(data.error)) : resolve(data);
  thread.onerror = ({ message }) => reject(new Error(message));
  signal?.addEventListener("abort", () => reject(new Error("interrupted")));
  const file = realPath(task.path);
  const watch = () => {
    if (walBytes(file) > maxWalBytes)
      reject(new Error(`the server's WAL exceeded ${maxWalBytes} bytes: try again when the server writes less`));
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
