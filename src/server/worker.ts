import { UsageError } from "../config/config.ts";
import { forwardLines } from "../observability/log.ts";
import type { MetricsSnapshot } from "../observability/metrics.ts";
import { type Announcement, thisProgram } from "./process.ts";

/** Timeout of a supervisor's request for the metrics of a worker. */
const METRICS_TIMEOUT_MS = 1_000;

/** A message from a worker: that it is ready, why it failed to start, or its metrics in reply to a request. */
interface WorkerMessage {
  readonly ready?: Announcement;
  readonly failure?: string;
  readonly metrics?: MetricsSnapshot;
}

/** The only message from a supervisor. */
const METRICS_REQUEST = "metrics";

/** The supervisor as a worker sees it, over the IPC channel. */
export interface Supervisor {
  /** The number of this worker, from 1 on. */
  readonly worker: number;
  /** Resolves with the reason when this worker has to stop. */
  readonly stopping: Promise<string>;
  /** Resolves when the supervisor has ended. */
  readonly gone: Promise<void>;
  announce(ready: Announcement): void;
  onMetricsRequest(read: () => Promise<MetricsSnapshot>): void;
  /** Reports the failure to start and exits with 1. */
  giveUp(error: unknown): void;
  /** Disconnects. The process exits when nothing else keeps it running. */
  leave(): void;
}

/**
 * Connects to the supervisor. The worker stops on a signal, of which the terminal and the supervisor may each send one, and
 * when its supervisor has ended.
 * @throws UsageError when no supervisor started this process
 */
export function connectToSupervisor(worker: number): Supervisor {
  if (process.send === undefined) throw new UsageError("--worker is set by a supervisor only: use --workers");
  const { promise: stopping, resolve: stop } = Promise.withResolvers<string>();
  for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, () => stop(event));
  const gone = new Promise<void>((resolve) => process.once("disconnect", resolve));
  const send = (message: WorkerMessage, whenSent = () => {}) => {
    if (process.connected) process.send?.(message, undefined, undefined, whenSent);
    else whenSent();
  };
  return {
    worker,
    stopping,
    gone,
    announce: (ready) => send({ ready }),
    onMetricsRequest(read) {
      process.on("message", async (message) => {
        if (message === METRICS_REQUEST) send({ metrics: await read() });
      });
    },
    giveUp: (error) => send({ failure: (error as Error).message }, () => process.exit(1)),
    leave: () => process.disconnect?.(),
  };
}

/** The end of a worker. */
interface Ending {
  readonly endedPid: number;
  readonly exitCode: number | null;
  readonly signal: Bun.Subprocess["signalCode"];
  /** The reason that it reported, when it failed to start. */
  readonly failure: string | undefined;
  readonly lifetimeMs: number;
  /** Whether it had completed all accepted requests. */
  readonly hasFinished: boolean;
}

/** A worker as its supervisor sees it: a process of this program with a number. */
export class WorkerProcess {
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  readonly #ready = Promise.withResolvers<Announcement>();
  #isReady = false;
  #failure: string | undefined;
  #pendingMetrics: Promise<MetricsSnapshot | undefined> | undefined;
  #onMetrics: (metrics?: MetricsSnapshot) => void = () => {};
  /** Resolves when it has ended and its log has been forwarded. */
  readonly ended: Promise<Ending>;

  /** Starts the worker. Its log is forwarded to `log`. */
  constructor(number: number, port: number, log: Parameters<typeof forwardLines>[1]) {
    const own = ["--port", String(port), "--worker", String(number)];
    this.#child = Bun.spawn([...thisProgram(), ...process.argv.slice(2), ...own], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      ipc: (message: WorkerMessage) => this.#receive(message),
    });
    this.ended = this.#end(performance.now(), forwardLines(this.#child.stderr, log));
    this.#ready.promise.catch(() => {});
  }

  /** Resolves when it accepts requests; rejects when it ends before that. */
  get ready(): Promise<Announcement> {
    return this.#ready.promise;
  }

  /** Requests its metrics; `undefined` after a timeout. Concurrent calls share one request. */
  metrics(): Promise<MetricsSnapshot | undefined> {
    if (this.#pendingMetrics !== undefined) return this.#pendingMetrics;
    const { promise, resolve } = Promise.withResolvers<MetricsSnapshot | undefined>();
    const timer = setTimeout(resolve, METRICS_TIMEOUT_MS);
    this.#onMetrics = resolve;
    if (!this.#requestMetrics()) resolve(undefined);
    this.#pendingMetrics = promise.finally(() => {
      clearTimeout(timer);
      this.#pendingMetrics = undefined;
    });
    return this.#pendingMetrics;
  }

  /** Sends a request for metrics; returns `false` when the worker is not ready or has disconnected. */
  #requestMetrics(): boolean {
    if (!this.#isReady) return false;
    try {
      this.#child.send(METRICS_REQUEST);
      return true;
    } catch {
      return false;
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

  #receive({ ready, failure, metrics }: WorkerMessage): void {
    if (metrics !== undefined) this.#onMetrics(metrics);
    if (failure !== undefined) this.#failure = failure;
    if (ready === undefined) return;
    this.#isReady = true;
    this.#ready.resolve(ready);
  }

  async #end(startedMs: number, logged: Promise<void>): Promise<Ending> {
    await Promise.all([this.#child.exited, logged]);
    const { pid, exitCode, signalCode: signal } = this.#child;
    this.#onMetrics();
    this.#ready.reject(new Error(this.#failure ?? `a worker ended with ${signal ?? exitCode} before it was ready`));
    return {
      endedPid: pid,
      exitCode,
      signal,
      failure: this.#failure,
      lifetimeMs: performance.now() - startedMs,
      hasFinished: exitCode === 0 || !this.#isReady,
    };
  }
}
