import { UsageError } from "../config/config.ts";
import type { MetricsSnapshot } from "../observability/metrics.ts";
import type { Announcement } from "./announcement.ts";
import type { SupervisorMessage, WorkerMessage } from "./ipc.ts";

/** The worker's side of the IPC channel to its supervisor. */
export class SupervisorChannel {
  /** The number of this worker, starting at 1. */
  readonly worker: number;
  /**
   * Resolves with the event that stops this worker: a signal, which the terminal and the supervisor may both send, or
   * `disconnect` when the supervisor has exited.
   */
  readonly stopping: Promise<string>;
  /** Resolves when the supervisor has exited. */
  readonly closed: Promise<void>;

  /** @throws UsageError when no supervisor started this process */
  constructor(worker: number) {
    if (process.send === undefined) throw new UsageError("--worker is reserved for the supervisor: use --workers");
    const stopping = Promise.withResolvers<string>();
    for (const event of ["SIGTERM", "SIGINT", "disconnect"]) process.on(event, () => stopping.resolve(event));
    this.worker = worker;
    this.stopping = stopping.promise;
    this.closed = new Promise((resolve) => process.once("disconnect", resolve));
  }

  /** Reports that this worker is ready. */
  readonly announce = (announcement: Announcement): void => this.#send({ type: "ready", announcement });

  /** Replies to the supervisor's requests for metrics. */
  onMetricsRequest(collect: () => Promise<MetricsSnapshot>): void {
    process.on("message", async ({ type }: SupervisorMessage) => {
      if (type === "collectMetrics") this.#send({ type: "metrics", metrics: await collect() });
    });
  }

  /** Reports that this worker cannot start, and exits with 1. */
  readonly reportStartFailure = (error: unknown): void =>
    this.#send({ type: "startFailed", reason: (error as Error).message }, () => process.exit(1));

  /** Disconnects. The process exits when nothing else keeps it running. */
  close(): void {
    process.disconnect?.();
  }

  #send(message: WorkerMessage, onSent = () => {}): void {
    if (process.connected) process.send?.(message, undefined, undefined, onSent);
    else onSent();
  }
}
