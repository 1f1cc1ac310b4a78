import { findPort } from "../http/listener.ts";
import { openLog } from "../observability/log.ts";
import { aggregateMetrics } from "../observability/metrics.ts";
import { formatForLog } from "../storage/database-url.ts";
import { listenForMetrics } from "./admin.ts";
import { announce } from "./announcement.ts";
import type { ServeConfig } from "./config.ts";
import { killOnUncaughtError } from "./process.ts";
import { onReload, stopSignal, waitForStop } from "./signals.ts";
import { WorkerGroup } from "./worker-group.ts";

/** Maximum time that a starting supervisor retries a port in use. */
const PORT_TIMEOUT_MS = 3_000;
const PORT_RETRY_MS = 50;

/**
 * Runs several server processes on one port, restarts those that end, and lets all complete their requests on a stop signal.
 * @throws Error when the workers cannot start
 */
export async function supervise(config: ServeConfig): Promise<void> {
  const log = openLog();
  killOnUncaughtError(log);
  const stopping = stopSignal();
  const workers = new WorkerGroup(log);
  onReload(() => workers.reload());
  const port = await findPortWithRetries(config);
  const metrics = aggregateMetrics(() => workers.metrics());
  const admin = listenForMetrics(config, metrics);
  const ready = await workers.start(config.workers, port);
  const { url } = ready;
  const database = formatForLog(config.database);
  log.events.info({ url, adminUrl: admin?.url, database, workers: config.workers, bun: Bun.version }, "serving");
  announce(ready);

  await waitForStop(stopping, config, log.events);
  const isComplete = await workers.stop();
  await admin?.stop(config.stopTimeout);
  log.events.info("stopped");
  process.exit(isComplete ? 0 : 1);
}

/** Retries {@link findPort} while the port is in use, because the workers of a killed supervisor release it a moment later. */
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
