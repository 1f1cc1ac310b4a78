import { setTimeout as sleep } from "node:timers/promises";
import { App } from "../app.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { routes } from "../http/routes.ts";
import { SendBudget } from "../http/send-budget.ts";
import { HttpServer } from "../http/server.ts";
import type { Log } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import { RequestLog } from "../observability/request-log.ts";
import type { Tracing } from "../observability/tracing.ts";
import { formatForLog } from "../storage/database-url.ts";
import type { Storage } from "../storage/storage.ts";
import { startAdminListener } from "./admin.ts";
import type { CertificateFiles } from "./certificate-files.ts";
import type { ServeConfig } from "./config.ts";
import type { SupervisorChannel } from "./supervisor-channel.ts";

/** Options of {@link listen}. */
interface ListenOptions {
  readonly config: ServeConfig;
  readonly storage: Storage;
  readonly authenticator: Authenticator;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly certificate: CertificateFiles | undefined;
  readonly supervisor: SupervisorChannel | undefined;
}

/**
 * Starts the listeners of this process. A worker has no admin listener: its supervisor exports the metrics of all workers.
 * @throws Error when it cannot listen on an address
 */
export function listen(options: ListenOptions) {
  const { config, storage, authenticator, log, metrics, tracing, certificate, supervisor } = options;
  let isDraining = false;
  const readiness = { isDraining: () => isDraining, ping: () => storage.ping() };
  const requestLog = new RequestLog(log.requests, config.log);
  const budget = new SendBudget(config.sendBuffer, () => main.pendingRequests);
  const main = new HttpServer({
    host: config.host,
    port: config.port,
    reusePort: supervisor !== undefined,
    idleTimeoutSeconds: Math.ceil(config.idleTimeout / 1_000),
    certificate: certificate?.current,
    authenticator,
    requestQuota: config.rateLimit,
    failureQuota: config.failureLimit,
    proxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    routes: routes(new App(storage), readiness, budget),
    onResponse(event) {
      if (!event.isAborted) metrics.recordResponse(event);
      requestLog.record(event, event.isAborted ? undefined : tracing?.record(event));
    },
  });
  metrics.setSources(main, storage, budget);
  supervisor?.onMetricsRequest(() => metrics.snapshot());
  const admin = supervisor === undefined ? startAdminListener(config, metrics) : undefined;
  const stopWatching = certificate?.watch(main);
  const database = formatForLog(config.database);
  log.events.info({ url: main.url, adminUrl: admin?.url, database, bun: Bun.version }, "serving");
  return {
    url: main.url,
    /** Drains, then stops listening. Resolves when all accepted requests have completed or timed out. */
    async stop(): Promise<void> {
      isDraining = true;
      stopWatching?.();
      main.drain();
      // A worker without a supervisor does not drain, because the next supervisor needs the port. The timer is
      // unreferenced, because the listener keeps the process alive.
      const drained = sleep(config.drain, undefined, { ref: false });
      await (supervisor === undefined ? drained : Promise.race([drained, supervisor.closed]));
      await Promise.all([main.stop(config.stopTimeout), admin?.stop(config.stopTimeout)]);
    },
  };
}
