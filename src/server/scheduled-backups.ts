import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { formatDatabaseUrl } from "../storage/database-url.ts";
import { timestamp } from "../storage/sqlite/file-system.ts";
import { thisProgram } from "./process.ts";

/** Delay before a failed backup is retried, unless `--backup-every` is shorter. */
const RETRY_DELAY_MS = 300_000;
/** Minimum timeout of a backup; the timeout is `--backup-every` if that is longer. */
const MIN_TIMEOUT_MS = 3_600_000;
/** File names of scheduled backups. No other files are deleted. */
const BACKUP_NAME = /^plantstore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
/** Names of the temporary folders of killed backups. */
const PARTIAL_NAME = /^plantstore-\d{8}T\d{6}Z\.db\.partial-/;

type Schedule = Config<"database" | "backupEvery" | "backupKeep"> & { readonly backupDir: string };

interface Options {
  readonly schedule: Schedule;
  readonly log: Log["events"];
  readonly metrics: Metrics;
  /** Aborts the current backup and ends the schedule. */
  readonly signal: AbortSignal;
}

/**
 * Runs scheduled backups of a SQLite database. The first one is due immediately, unless a recent one exists. A failed
 * backup is logged and counted and never stops the server.
 */
export async function runScheduledBackups({ schedule, log, metrics, signal }: Options): Promise<void> {
  const { backupDir, backupEvery } = schedule;
  const newestMs = newestBackupMs(backupDir);
  if (newestMs !== undefined && newestMs + backupEvery > Date.now()) metrics.recordBackup("found", newestMs);
  let dueMs = (newestMs ?? 0) + backupEvery;
  while (await sleep(Math.max(0, dueMs - Date.now()), true, { signal }).catch(() => false)) {
    const startedMs = Date.now();
    const file = join(backupDir, `plantstore-${timestamp(new Date(startedMs))}.db`);
    try {
      const result = await backUp(file, schedule, signal);
      metrics.recordBackup("made", startedMs);
      log.info({ file, result }, "backup completed");
      dueMs = startedMs + backupEvery;
    } catch (err) {
      if (signal.aborted) return;
      metrics.recordBackup("failed");
      log.error({ err, file }, "backup failed");
      dueMs = Date.now() + Math.min(backupEvery, RETRY_DELAY_MS);
    }
  }
}

/** Returns the time of the newest backup. Ignores a time in the future, which comes from a wrong clock. */
function newestBackupMs(folder: string): number | undefined {
  try {
    const timeMs = Date.parse(listBackups(folder)[0]?.replace(BACKUP_NAME, "$1-$2-$3T$4:$5:$6Z") ?? "");
    return timeMs <= Date.now() ? timeMs : undefined;
  } catch {
    // The folder is missing or unreadable. The first backup creates it or reports the error.
    return undefined;
  }
}

/** Makes a backup. Also deletes the folders of killed backups, and all backups except the newest `backupKeep`. */
async function backUp(
  file: string,
  { backupDir, backupKeep, ...options }: Schedule,
  signal: AbortSignal,
): Promise<string> {
  mkdirSync(backupDir, { recursive: true, mode: 0o700 });
  const partials = readdirSync(backupDir).filter((name) => PARTIAL_NAME.test(name));
  for (const name of partials) rmSync(join(backupDir, name), { recursive: true, force: true });
  const result = await runBackup(file, options, signal);
  const others = listBackups(backupDir).filter((name) => name !== basename(file));
  for (const name of others.slice(backupKeep - 1)) rmSync(join(backupDir, name), { force: true });
  return result;
}

/** Returns the names of the scheduled backups in a folder, newest first. */
const listBackups = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => BACKUP_NAME.test(name))
    .sort()
    .reverse();

/**
 * Runs `plantstore backup` and returns its output. Unlike a thread, a process can be killed, has its own CPU priority, and
 * returns all its memory.
 */
async function runBackup(
  file: string,
  { database, backupEvery }: Pick<Schedule, "database" | "backupEvery">,
  signal: AbortSignal,
): Promise<string> {
  const timeout = Math.max(backupEvery, MIN_TIMEOUT_MS);
  const command = [...thisProgram(), "backup", file, "--database", formatDatabaseUrl(database)];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe", signal, timeout });
  try {
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The process has already exited, or the system denies the change.
  }
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (child.exitCode === 0) return stdout.trim();
  throw new Error(stderr.trim() || `killed by ${child.signalCode}`);
}
