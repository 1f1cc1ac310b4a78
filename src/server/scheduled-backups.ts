import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { formatDatabaseUrl } from "../storage/database-url.ts";
import { timestamp } from "../storage/sqlite/files.ts";
import { thisProgram } from "./process.ts";

/** Delay before a failed backup is retried, unless `--backup-every` is shorter. */
const RETRY_DELAY_MS = 300_000;
/** Minimum timeout of a backup; the timeout is `--backup-every` if that is longer. */
const MIN_TIMEOUT_MS = 3_600_000;
/** File names of scheduled backups. Other files in the folder are left alone. */
const BACKUP_NAME = /^plantstore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
/** Names of the temporary folders that killed backups leave behind. */
const PARTIAL_NAME = /^plantstore-\d{8}T\d{6}Z\.db\.partial-/;

type Schedule = Config<"database" | "backupEvery" | "backupKeep"> & { readonly backupDir: string };

/**
 * Backs up a SQLite database at regular intervals, each time in a separate low-priority process. A failed backup is
 * logged and counted and never stops the server.
 */
export class ScheduledBackups {
  readonly #schedule: Schedule;
  readonly #log: Log["events"];
  readonly #metrics: Metrics;
  readonly #controller = new AbortController();
  #done: Promise<void> = Promise.resolve();

  constructor(schedule: Schedule, log: Log["events"], metrics: Metrics) {
    this.#schedule = schedule;
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Starts the schedule. The first backup is due immediately, unless a recent one exists. */
  start(): void {
    this.#done = this.#run();
  }

  /** Aborts the current backup and ends the schedule. */
  async stop(): Promise<void> {
    this.#controller.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const { backupEvery } = this.#schedule;
    const { signal } = this.#controller;
    let delayMs = this.#initialDelayMs();
    while (await sleep(delayMs, true, { signal }).catch(() => false)) {
      const startedMs = Date.now();
      const isSuccess = await this.#backUp(new Date(startedMs));
      delayMs = isSuccess ? Math.max(0, startedMs + backupEvery - Date.now()) : Math.min(backupEvery, RETRY_DELAY_MS);
    }
  }

  /** Returns the time until the next backup is due. Ignores a newest backup with a time in the future, from a wrong clock. */
  #initialDelayMs(): number {
    const { backupDir, backupEvery } = this.#schedule;
    try {
      const [newest] = listBackups(backupDir);
      const timeMs = newest === undefined ? 0 : timeOf(newest);
      const ageMs = Date.now() - timeMs;
      if (ageMs < 0 || ageMs >= backupEvery) return 0;
      this.#metrics.recordBackup("found", timeMs);
      return backupEvery - ageMs;
    } catch {
      // The folder does not exist or is unreadable. The first backup creates it or reports the error.
      return 0;
    }
  }

  async #backUp(time: Date): Promise<boolean> {
    const { backupDir, backupKeep } = this.#schedule;
    const name = `plantstore-${timestamp(time)}.db`;
    const file = join(backupDir, name);
    try {
      mkdirSync(backupDir, { recursive: true, mode: 0o700 });
      for (const partial of readdirSync(backupDir).filter((each) => PARTIAL_NAME.test(each))) {
        rmSync(join(backupDir, partial), { recursive: true, force: true });
      }
      const result = await this.#runBackup(file);
      const others = listBackups(backupDir).filter((each) => each !== name);
      for (const old of others.slice(backupKeep - 1)) rmSync(join(backupDir, old), { force: true });
      this.#metrics.recordBackup("made", time.getTime());
      this.#log.info({ file, result }, "backup completed");
      return true;
    } catch (err) {
      if (this.#controller.signal.aborted) return false;
      this.#metrics.recordBackup("failed");
      this.#log.error({ err, file }, "backup failed");
      return false;
    }
  }

  /** Runs `plantstore backup`. Returns its standard output. */
  async #runBackup(file: string): Promise<string> {
    const { database, backupEvery } = this.#schedule;
    const child = Bun.spawn([...thisProgram(), "backup", file, "--database", formatDatabaseUrl(database)], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      signal: this.#controller.signal,
      killSignal: "SIGTERM",
      timeout: Math.max(backupEvery, MIN_TIMEOUT_MS),
    });
    lowerPriority(child.pid);
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (child.exitCode === 0) return stdout.trim();
    throw new Error(stderr.trim() || `killed by ${child.signalCode}`);
  }
}

/** Returns the names of the scheduled backups in a folder, newest first. */
function listBackups(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => BACKUP_NAME.test(name))
    .sort()
    .reverse();
}

/** Parses the time of a backup from its name. Returns milliseconds since the Unix epoch. */
function timeOf(name: string): number {
  const [year = 0, month = 0, ...rest] = (BACKUP_NAME.exec(name) ?? []).slice(1).map(Number);
  return Date.UTC(year, month - 1, ...rest);
}

/** Lowers the priority of a backup process in favour of requests, best effort. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // The process has already exited, or the system denies the change.
  }
}
