import { EventEmitter, once } from "node:events";
import { forwardLines } from "../observability/log.ts";
import type { MetricsSnapshot } from "../observability/metrics.ts";
import type { Announcement } from "./announcement.ts";
import type { SupervisorMessage, WorkerMessage } from "./ipc.ts";
import { thisProgram } from "./process.ts";

/** Timeout of a request for the metrics of a worker. */
const METRICS_TIMEOUT_MS = 1_000;

/** The end of a worker. */
interface WorkerEnd {
  readonly endedPid: number;
  readonly exitCode: number | null;
  readonly signal: Bun.Subprocess["signalCode"];
  /** The reason that it reported, when it failed to start. */
  readonly failure: string | undefined;
  readonly lifetimeMs: number;
  /** Whether it completed all requests that it had accepted. */
  readonly isComplete: boolean;
}

/** The supervisor's side of a worker: a process of this program with a number. */
export class WorkerProcess {
  readonly number: number;
  /** Resolves when it accepts requests; rejects when it ends before that. */
  readonly ready: Promise<Announcement>;
  /** Resolves when it has ended and its log has been forwarded. */
  readonly ended: Promise<WorkerEnd>;
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  readonly #replies = new EventEmitter<{ metrics: [MetricsSnapshot] }>();
  readonly #start = Promise.withResolvers<Announcement>();
  #isReady = false;
  #failure: string | undefined;

  /** Starts the worker. Its log is forwarded to `log`. */
  constructor(number: number, port: number, log: Parameters<typeof forwardLines>[1]) {
    this.number = number;
    const own = ["--port", String(port), "--worker", String(number)];
    this.#child = Bun.spawn([...thisProgram(), ...process.argv.slice(2), ...own], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      ipc: (message: WorkerMessage) => this.#receive(message),
    });
    this.ready = this.#start.promise;
    this.ready.catch(() => {});
    this.ended = this.#end(performance.now(), forwardLines(this.#child.stderr, log));
  }

  /** Requests its metrics; returns `undefined` when it is not ready, has disconnected or does not reply in time. */
  async metrics(): Promise<MetricsSnapshot | undefined> {
    if (!this.#isReady) return undefined;
    try {
      this.#child.send({ type: "collectMetrics" } satisfies SupervisorMessage);
      const [metrics] = await once(this.#replies, "metrics", { signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
      return metrics;
    } catch {
      return undefined;
    }
  }

  /** Lets it complete the accepted requests. A worker that is not ready has accepted none. */
  stop(): void {
    this.#child.kill(this.#isReady ? "SIGTERM" : "SIGKILL");
  }

  /** Passes a SIGHUP on. Before it is ready, the worker may not handle one. */
  reload(): void {
    if (this.#isReady) this.#child.kill("SIGHUP");
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #receive(message: WorkerMessage): void {
    if (message.type === "metrics") this.#replies.emit("metrics", message.metrics);
    else if (message.type === "startFailed") this.#failure = message.reason;
    else {
      this.#isReady = true;
      this.#start.resolve(message.announcement);
    }
  }

  async #end(startedMs: number, logged: Promise<void>): Promise<WorkerEnd> {
    await Promise.all([this.#child.exited, logged]);
    const { pid, exitCode, signalCode: signal } = this.#child;
    const failure = this.#failure;
    this.#start.reject(new Error(failure ?? `a worker ended with ${signal ?? exitCode} before it was ready`));
    const lifetimeMs = performance.now() - startedMs;
    return { endedPid: pid, exitCode, signal, failure, lifetimeMs, isComplete: exitCode === 0 || !this.#isReady };
  }
}
