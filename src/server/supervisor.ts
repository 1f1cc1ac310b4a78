import { findPort } from "../http/listener.ts";
import { openLog } from "../observability/log.ts";
import { aggregateMetrics } from "../observability/metrics.ts";
import { formatForLog } from "../storage/database-url.ts";
import { startAdminListener } from "./admin.ts";
import { type Announcement, announce } from "./announcement.ts";
import type { ServeConfig } from "./config.ts";
import { killOnUncaughtError } from "./process.ts";
import { onReload, stopSignal, waitForStop } from "./signals.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Timeout for retries while the port is in use. */
const PORT_TIMEOUT_MS = 3_000;
const PORT_RETRY_MS = 50;

/**
 * Runs several server processes on one port, restarts those that exit, and drains all of them on a stop signal.
 * @throws Error when the workers cannot start
 */
export async function supervise(config: ServeConfig): Promise<void> {
  const log = openLog();
  killOnUncaughtError(log);
  const stopping = stopSignal();
  let workers: readonly WorkerProcess[] = [];
  onReload(() => {
    for (const worker of workers) worker.reload();
  });
  process.on("exit", () => {
    for (const worker of workers) worker.kill();
  });
  const port = await findPortWithRetries(config);
  const metrics = aggregateMetrics(() => Promise.all(workers.map((worker) => worker.metrics())));
  const admin = startAdminListener(config, metrics);
  workers = Array.from({ length: config.workers }, (_, index) => new WorkerProcess(index + 1, port, log));
  const ready = await Promise.all(workers.map((worker) => worker.ready));
  const [{ url }] = ready as [Announcement];
  const database = formatForLog(config.database);
  log.events.info({ url, adminUrl: admin?.url, database, workers: config.workers, bun: Bun.version }, "serving");
  announce({ url, secret: ready.find(({ secret }) => secret !== undefined)?.secret });

  await waitForStop(stopping, config, log.events);
  const completions = await Promise.all(workers.map((worker) => worker.stop()));
  await admin?.stop(config.stopTimeout);
  log.events.info("stopped");
  process.exit(completions.every(Boolean) ? 0 : 1);
}

/** Retries {@link findPort} while the port is in use: the workers of a killed supervisor release it after a short delay. */
async function findPortWithRetries({ host, port }: ServeConfig): Promise<number> {
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
