import { EventEmitter, once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { forwardLines, type Log } from "../observability/log.ts";
import type { MetricsSnapshot } from "../observability/metrics.ts";
import type { Announcement } from "./announcement.ts";
import type { SupervisorMessage, WorkerMessage } from "./ipc.ts";
import { thisProgram } from "./process.ts";

/** A worker that exits within this time of its start is restarted with an increasing delay. */
const STABLE_MS = 10_000;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;
/** Timeout of a request for the metrics of a worker. */
const METRICS_TIMEOUT_MS = 1_000;

/** The supervisor's side of a worker: a numbered process of this program that is restarted whenever it exits. */
export class WorkerProcess {
  readonly #number: number;
  readonly #command: string[];
  readonly #log: Log;
  readonly #replies = new EventEmitter<{ metrics: [MetricsSnapshot] }>();
  readonly #firstStart = Promise.withResolvers<Announcement>();
  readonly #stopping = new AbortController();
  readonly #stopped: Promise<boolean>;
  #child: Bun.Subprocess | undefined;
  #hasStarted = false;
  #isReady = false;
  /** The reason of a failed start, as reported by the worker. */
  #failure: string | undefined;

  /** Starts the worker. It stops when its supervisor exits. */
  constructor(number: number, port: number, log: Log) {
    this.#number = number;
    this.#command = [...thisProgram(), ...process.argv.slice(2), "--port", String(port), "--worker", String(number)];
    this.#log = log;
    this.#stopped = this.#keepRunning();
  }

  /** Resolves when the worker first accepts requests; rejects when it exits before that. */
  get ready(): Promise<Announcement> {
    return this.#firstStart.promise;
  }

  /** Returns the worker's metrics, or `undefined` when it is not ready, has disconnected or does not reply in time. */
  async metrics(): Promise<MetricsSnapshot | undefined> {
    if (!this.#isReady) return undefined;
    try {
      this.#child?.send({ type: "collectMetrics" } satisfies SupervisorMessage);
      const [metrics] = await once(this.#replies, "metrics", { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
      return metrics;
    } catch {
      return undefined;
    }
  }

  /** Reloads the worker's certificate. Skips a worker that is not ready, because it may not handle SIGHUP yet. */
  reload(): void {
    if (this.#isReady) this.#child?.kill("SIGHUP");
  }

  /**
   * Drains the worker, or kills it if it is not ready and so has accepted no requests. Resolves with whether it completed
   * its accepted requests.
   */
  stop(): Promise<boolean> {
    this.#stopping.abort();
    this.#child?.kill(this.#isReady ? "SIGTERM" : "SIGKILL");
    return this.#stopped;
  }

  /** Kills the worker. */
  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Runs the worker, restarting it when it exits. Resolves with whether the last process completed its accepted requests. */
  async #keepRunning(): Promise<boolean> {
    const { signal } = this.#stopping;
    for (let delayMs = 0; !signal.aborted; ) {
      const startedMs = performance.now();
      const end = await this.#run();
      if (signal.aborted) return end.exitCode === 0 || !this.#isReady;
      if (!this.#hasStarted) {
        const reason = end.failure ?? `a worker exited with ${end.signal ?? end.exitCode} before it was ready`;
        this.#firstStart.reject(new Error(reason));
        return false;
      }
      const isStable = performance.now() - startedMs > STABLE_MS;
      delayMs = isStable ? 0 : Math.min(Math.max(delayMs * 2, MIN_DELAY_MS), MAX_DELAY_MS);
      this.#log.events.error({ exitedWorker: this.#number, ...end, delayMs }, "worker exited, restarting it");
      await sleep(delayMs, undefined, { signal }).catch(() => {});
    }
    return true;
  }

  /** Runs one process until it has exited and its log has been forwarded. */
  async #run() {
    this.#isReady = false;
    this.#failure = undefined;
    const child = Bun.spawn(this.#command, {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      ipc: (message: WorkerMessage) => this.#receive(message),
    });
    this.#child = child;
    await Promise.all([child.exited, forwardLines(child.stderr, this.#log.output)]);
    return { exitedPid: child.pid, exitCode: child.exitCode, signal: child.signalCode, failure: this.#failure };
  }

  #receive(message: WorkerMessage): void {
    if (message.type === "metrics") this.#replies.emit("metrics", message.metrics);
    else if (message.type === "startFailed") this.#failure = message.reason;
    else {
      this.#isReady = true;
      this.#hasStarted = true;
      this.#firstStart.resolve(message.announcement);
    }
  }
}
