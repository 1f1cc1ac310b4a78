import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../observability/log.ts";
import type { MetricsSnapshot } from "../observability/metrics.ts";
import type { Announcement } from "./announcement.ts";
import { WorkerProcess } from "./worker-process.ts";

/** A worker that ends sooner after its start is restarted with an increasing delay. */
const STABLE_MS = 10_000;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/** The workers of one supervisor. It kills them when it exits, and they stop when it has ended. */
export class WorkerGroup {
  readonly #log: Log;
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #stopping = new AbortController();
  #completions: readonly Promise<boolean>[] = [];

  constructor(log: Log) {
    this.#log = log;
    process.on("exit", () => {
      for (const worker of this.#workers.values()) worker.kill();
    });
  }

  /**
   * Starts `size` workers on this port. Resolves when all are ready, with the first token if one of them created it;
   * rejects when one cannot start.
   */
  async start(size: number, port: number): Promise<Announcement> {
    const workers = Array.from({ length: size }, (_, index) => this.#startWorker(index + 1, port));
    const announcements = await Promise.all(workers.map(({ ready }) => ready));
    this.#completions = workers.map((worker) => this.#keepRunning(worker, port));
    const [first] = announcements as [Announcement];
    return announcements.find(({ secret }) => secret !== undefined) ?? first;
  }

  /** The metrics of the workers that reply in time. */
  async metrics(): Promise<MetricsSnapshot[]> {
    const all = await Promise.all([...this.#workers.values()].map((worker) => worker.metrics()));
    return all.filter((metrics) => metrics !== undefined);
  }

  /** Makes every worker reload its certificate. */
  reload(): void {
    for (const worker of this.#workers.values()) worker.reload();
  }

  /** Stops the workers. Returns whether all completed their accepted requests. */
  async stop(): Promise<boolean> {
    this.#stopping.abort();
    for (const worker of this.#workers.values()) worker.stop();
    return (await Promise.all(this.#completions)).every(Boolean);
  }

  #startWorker(number: number, port: number): WorkerProcess {
    const worker = new WorkerProcess(number, port, this.#log.output);
    this.#workers.set(number, worker);
    return worker;
  }

  /** Restarts a worker whenever it ends. Returns whether the last one completed its accepted requests. */
  async #keepRunning(first: WorkerProcess, port: number): Promise<boolean> {
    const { signal } = this.#stopping;
    let [worker, delayMs] = [first, 0];
    for (;;) {
      const { lifetimeMs, isComplete, ...end } = await worker.ended;
      if (signal.aborted) return isComplete;
      delayMs = lifetimeMs > STABLE_MS ? 0 : Math.min(Math.max(delayMs * 2, MIN_DELAY_MS), MAX_DELAY_MS);
      this.#log.events.error({ endedWorker: worker.number, ...end, delayMs }, "worker ended, restarting it");
      await sleep(delayMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return true;
      worker = this.#startWorker(worker.number, port);
    }
  }
}
