import { UsageError } from "../config/config.ts";
import { findPort } from "../http/listener.ts";
import { type Log, openLog, StandardError } from "../observability/log.ts";
import { aggregateMetrics, type MetricsSnapshot } from "../observability/metrics.ts";
import { formatForLog } from "../storage/database-url.ts";
import { listenForMetrics } from "./admin.ts";
import type { ServeConfig } from "./config.ts";
import {
  type Announcement,
  announce,
  endOnUncaughtError,
  forceExitAfterTimeout,
  onReload,
  stopSignal,
} from "./process.ts";
import { WorkerProcess } from "./worker.ts";

/** A worker that ends sooner after its start is restarted with an increasing delay. */
const STEADY_MS = 10_000;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 10_000;

/** How long a starting supervisor waits for its port. */
const PORT_TIMEOUT_MS = 3_000;
const PORT_RETRY_MS = 50;

/**
 * Runs several server processes on one port, restarts those that end, and lets all complete their requests on a stop signal.
 * @throws UsageError; Error when the workers cannot start
 */
export async function supervise(config: ServeConfig): Promise<void> {
  requireSharable(config);
  const log = openLog();
  endOnUncaughtError(log);
  const stopping = stopSignal();
  const workers = new WorkerGroup(config.workers, log);
  onReload(() => workers.reload());
  const port = await findPortInTime(config);
  const admin = listenForMetrics(
    config,
    aggregateMetrics(() => workers.metrics()),
  );
  const ready = await workers.start(port);
  const { url } = ready;
  const database = formatForLog(config.database);
  log.events.info({ url, adminUrl: admin?.url, database, workers: config.workers, bun: Bun.version }, "serving");
  announce(ready);

  log.events.info({ signal: await stopping }, "stopping");
  forceExitAfterTimeout(config);
  const haveFinished = await workers.stop();
  await admin?.stop(config.stopTimeout);
  log.events.info("stopped");
  process.exit(haveFinished ? 0 : 1);
}

/** Retries {@link findPort} while the port is in use, because the workers of a killed supervisor release it a moment later. */
async function findPortInTime({ host, port }: ServeConfig): Promise<number> {
  const deadlineMs = performance.now() + PORT_TIMEOUT_MS;
  for (;;) {
    try {
      return findPort(host, port);
    } catch (error) {
      const { code } = (error as Error).cause as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE" || performance.now() >= deadlineMs) throw error;
      await Bun.sleep(PORT_RETRY_MS);
    }
  }
}

function requireSharable({ workers, database }: ServeConfig): void {
  if (database.engine === "sqlite") {
    throw new UsageError(
      `--workers ${workers} needs PostgreSQL, because a SQLite database is for one process: name one with --database, or use --workers 1`,
    );
  }
  if (process.platform !== "linux") {
    throw new UsageError(`--workers ${workers} needs Linux, where processes can share a port: use --workers 1`);
  }
}

/** The workers of one supervisor. It kills them when it exits, and they stop when it has ended. */
class WorkerGroup {
  readonly #numbers: readonly number[];
  #port = 0;
  readonly #log: Log;
  readonly #standardError = new StandardError();
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #stopped = Promise.withResolvers<void>();
  #isStopping = false;
  #keeping: Promise<boolean[]> = Promise.resolve([]);

  constructor(size: number, log: Log) {
    this.#numbers = Array.from({ length: size }, (_, index) => index + 1);
    this.#log = log;
    process.on("exit", () => {
      for (const worker of this.#workers.values()) worker.kill();
    });
  }

  /**
   * Starts the workers on this port. Resolves when all are ready, with the first token if one of them created it; rejects
   * when one cannot start.
   */
  async start(port: number): Promise<Announcement> {
    this.#port = port;
    const announcements = await Promise.all(this.#numbers.map((number) => this.#startWorker(number).ready));
    this.#keeping = Promise.all(this.#numbers.map((number) => this.#keep(number)));
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

  /** Stops the workers; resolves with whether all completed their accepted requests. */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    this.#stopped.resolve();
    for (const worker of this.#workers.values()) worker.stop();
    return (await this.#keeping).every((hasFinished) => hasFinished);
  }

  #startWorker(number: number): WorkerProcess {
    const worker = new WorkerProcess(number, this.#port, this.#standardError);
    this.#workers.set(number, worker);
    return worker;
  }

  /** Restarts a worker whenever it ends, until the supervisor stops. */
  async #keep(number: number): Promise<boolean> {
    let worker = this.#workers.get(number) as WorkerProcess;
    for (let delayMs = 0; ; ) {
      const { lifetimeMs, hasFinished, ...ending } = await worker.ended;
      if (this.#isStopping) return hasFinished;
      delayMs = lifetimeMs > STEADY_MS ? 0 : Math.min(Math.max(delayMs * 2, MIN_DELAY_MS), MAX_DELAY_MS);
      this.#log.events.error({ endedWorker: number, ...ending, delayMs }, "worker ended, restarting it");
      await Promise.race([Bun.sleep(delayMs), this.#stopped.promise]);
      if (this.#isStopping) return true;
      worker = this.#startWorker(number);
    }
  }
}
