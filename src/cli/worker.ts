import { UsageError } from "../config.ts";
import { forwardLines } from "../log.ts";
import type { MetricsSnapshot } from "../metrics.ts";
import { type Announcement, thisProgram } from "./life.ts";

/** How long a supervisor waits for the figures of a worker. */
const FIGURES_TIMEOUT_MS = 1_000;

/** What a worker tells its supervisor: that it takes requests, why it cannot, or its figures when it is asked. */
interface WorkerMessage {
  readonly ready?: Announcement;
  readonly failure?: string;
  readonly figures?: MetricsSnapshot;
}

/** The one thing that a supervisor asks. */
const ASK_FOR_FIGURES = "figures";

/** A worker's end of the line to its supervisor. */
export interface Supervisor {
  /** The number of this worker, from 1 on. */
  readonly worker: number;
  /** Resolves with the reason when this worker has to stop. */
  readonly stopping: Promise<string>;
  /** Resolves when the supervisor has ended. */
  readonly gone: Promise<void>;
  announce(ready: Announcement): void;
  onAskedForFigures(read: () => Promise<MetricsSnapshot>): void;
  /** Tells why this worker cannot go on, and ends it. */
  giveUp(error: unknown): void;
  /** Hangs up; the process ends when nothing else keeps it. */
  leave(): void;
}

/**
 * Opens the line. The worker stops at a signal, of which it may get several, from a terminal and from its supervisor,
 * and when its supervisor is gone.
 * @throws UsageError when no supervisor has started this process
 */
export function connectToSupervisor(worker: number): Supervisor {
  if (process.send === undefined) throw new UsageError("--worker is not for people: use --workers");
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
    onAskedForFigures(read) {
      process.on("message", async (message) => {
        if (message === ASK_FOR_FIGURES) send({ figures: await read() });
      });
    },
    giveUp: (error) => send({ failure: (error as Error).message }, () => process.exit(1)),
    leave: () => process.disconnect?.(),
  };
}

/** How a worker ended. */
interface Ending {
  readonly endedPid: number;
  readonly exitCode: number | null;
  readonly signal: Bun.Subprocess["signalCode"];
  /** Its own words, when it could not start. */
  readonly failure: string | undefined;
  readonly lifetimeMs: number;
  /** Whether it owes nobody an answer. */
  readonly hasFinished: boolean;
}

/** A supervisor's end of the line: one worker, which is this program again, with a number. */
export class WorkerProcess {
  readonly #child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  readonly #ready = Promise.withResolvers<Announcement>();
  #isReady = false;
  #failure: string | undefined;
  #asking: Promise<MetricsSnapshot | undefined> | undefined;
  #tell: (figures?: MetricsSnapshot) => void = () => {};
  /** Resolves when it is gone and all that it had to say has been passed on. */
  readonly ended: Promise<Ending>;

  /** What it logs is written to `log`. */
  constructor(number: number, port: number, log: Parameters<typeof forwardLines>[1]) {
    const own = ["--port", String(port), "--worker", String(number)];
    this.#child = Bun.spawn([...thisProgram(), ...process.argv.slice(2), ...own], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
      ipc: (message: WorkerMessage) => this.#hear(message),
    });
    this.ended = this.#end(performance.now(), forwardLines(this.#child.stderr, log));
    this.#ready.promise.catch(() => {});
  }

  /** Resolves when it takes requests; rejects when it ends before. */
  get ready(): Promise<Announcement> {
    return this.#ready.promise;
  }

  /** What it counts; `undefined` when it does not say in time. Those who ask meanwhile share the answer. */
  figures(): Promise<MetricsSnapshot | undefined> {
    if (this.#asking !== undefined) return this.#asking;
    const { promise, resolve } = Promise.withResolvers<MetricsSnapshot | undefined>();
    const timer = setTimeout(resolve, FIGURES_TIMEOUT_MS);
    this.#tell = resolve;
    if (!this.#ask()) resolve(undefined);
    this.#asking = promise.finally(() => {
      clearTimeout(timer);
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Asks for its figures; `false` when that is no use: it is not ready, or has hung up, so that sending fails. */
  #ask(): boolean {
    if (!this.#isReady) return false;
    try {
      this.#child.send(ASK_FOR_FIGURES);
      return true;
    } catch {
      return false;
    }
  }

  /** Lets it finish what it has accepted. Before it takes requests, that is nothing. */
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

  #hear({ ready, failure, figures }: WorkerMessage): void {
    if (figures !== undefined) this.#tell(figures);
    if (failure !== undefined) this.#failure = failure;
    if (ready === undefined) return;
    this.#isReady = true;
    this.#ready.resolve(ready);
  }

  async #end(startedMs: number, logged: Promise<void>): Promise<Ending> {
    await Promise.all([this.#child.exited, logged]);
    const { pid, exitCode, signalCode: signal } = this.#child;
    this.#tell();
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
