import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { timestamp } from "../storage/sqlite/files.ts";
import { thisProgram } from "./life.ts";

/** A backup that failed is tried again after this, or at the next one's time. */
const RETRY_MS = 300_000;
/** A backup may take as long as the time between two, and at least this. */
const MIN_TIMEOUT_MS = 3_600_000;
/** Our own files, nothing else in the folder. */
const NAME = /^plantstore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
/** What a backup that was killed has left behind. */
const PARTIAL_NAME = /^plantstore-\d{8}T\d{6}Z\.db\.partial-/;

type Schedule = Config<"database" | "backupDir" | "backupEvery" | "backupKeep">;

/**
 * Backs a SQLite database up again and again, each time in a process of its own that gives way to all others. What fails
 * is logged and counted, and never stops the server.
 */
export class ScheduledBackups {
  readonly #schedule: Schedule;
  readonly #log: Log["events"];
  readonly #metrics: Metrics;
  readonly #stopping = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(schedule: Schedule, log: Log["events"], metrics: Metrics) {
    this.#schedule = schedule;
    this.#log = log;
    this.#metrics = metrics;
  }

  /** Makes the first backup at once, unless there is one that is recent enough. */
  start(): void {
    if (this.#schedule.backupDir !== "off") this.#ended = this.#repeat();
  }

  /** Gives up the backup that is being made, and makes no more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#ended;
  }

  async #repeat(): Promise<void> {
    const { backupEvery } = this.#schedule;
    const { signal } = this.#stopping;
    let pauseMs = this.#untilDue();
    while (await sleep(pauseMs, true, { signal }).catch(() => false)) {
      const startedMs = Date.now();
      const isMade = await this.#backUp(new Date(startedMs));
      pauseMs = isMade ? Math.max(0, startedMs + backupEvery - Date.now()) : Math.min(backupEvery, RETRY_MS);
    }
  }

  /** The age of the newest backup decides; one from the future, as a clock that went wrong left it, does not count. */
  #untilDue(): number {
    const { backupDir, backupEvery } = this.#schedule;
    try {
      const [newest] = ownBackups(backupDir);
      const timeMs = newest === undefined ? 0 : timeOf(newest);
      const ageMs = Date.now() - timeMs;
      if (ageMs < 0 || ageMs >= backupEvery) return 0;
      this.#metrics.recordBackup("found", timeMs);
      return backupEvery - ageMs;
    } catch {
      // The folder is not there yet, or cannot be read: the first backup will tell.
      return 0;
    }
  }

  async #backUp(time: Date): Promise<boolean> {
    const { backupDir, backupKeep } = this.#schedule;
    const name = `plantstore-${timestamp(time)}.db`;
    const file = join(backupDir, name);
    try {
      mkdirSync(backupDir, { recursive: true, mode: 0o700 });
      for (const left of readdirSync(backupDir).filter((each) => PARTIAL_NAME.test(each))) {
        rmSync(join(backupDir, left), { recursive: true, force: true });
      }
      const made = await this.#run(file);
      const others = ownBackups(backupDir).filter((each) => each !== name);
      for (const old of others.slice(backupKeep - 1)) rmSync(join(backupDir, old), { force: true });
      this.#metrics.recordBackup("made", time.getTime());
      this.#log.info({ file, made }, "backup made");
      return true;
    } catch (err) {
      if (this.#stopping.signal.aborted) return false;
      this.#metrics.recordBackup("failed");
      this.#log.error({ err, file }, "backup failed");
      return false;
    }
  }

  /** `plantstore backup` with this program; resolves with what it printed. */
  async #run(file: string): Promise<string> {
    const { database, backupEvery } = this.#schedule;
    const child = Bun.spawn([...thisProgram(), "backup", file, "--database", database], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      signal: this.#stopping.signal,
      killSignal: "SIGTERM",
      timeout: Math.max(backupEvery, MIN_TIMEOUT_MS),
    });
    giveWay(child.pid);
    const [printed, complaint] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (child.exitCode === 0) return printed.trim();
    throw new Error(complaint.trim() || `it was ended by ${child.signalCode}`);
  }
}

/** The names of our backups in a folder, newest first. */
function ownBackups(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .reverse();
}

/** When a backup was made, in epoch milliseconds. */
function timeOf(name: string): number {
  const [year = 0, month = 0, ...rest] = (NAME.exec(name) ?? []).slice(1).map(Number);
  return Date.UTC(year, month - 1, ...rest);
}

/** Requests come first; a process that may not say so makes its backups all the same. */
function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It has ended already, or the system does not let it.
  }
}
