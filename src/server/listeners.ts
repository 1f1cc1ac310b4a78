import { setTimeout as sleep } from "node:timers/promises";
import { App } from "../app.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import type { ResponseEvent } from "../http/active-call.ts";
import { routes } from "../http/routes.ts";
import { SendBudget } from "../http/send-budget.ts";
import { HttpServer } from "../http/server.ts";
import { type Log, limitFailureLog, redact } from "../observability/log.ts";
import type { Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../observability/tracing.ts";
import { formatForLog } from "../storage/database-url.ts";
import type { Storage } from "../storage/storage.ts";
import { listenForMetrics } from "./admin.ts";
import type { CertificateFiles } from "./certificate-files.ts";
import type { ServeConfig } from "./config.ts";
import type { Supervisor } from "./worker.ts";

/** Options of {@link listen}. */
interface ListenOptions {
  readonly config: ServeConfig;
  readonly storage: Storage;
  readonly authenticator: Authenticator;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing | undefined;
  readonly certificate: CertificateFiles | undefined;
  readonly supervisor: Supervisor | undefined;
}

/** The listeners of one process. */
export interface Listeners {
  readonly url: string;
  /** Drains and then stops listening; resolves when every accepted request is answered or out of time. */
  stop(): Promise<void>;
}

/**
 * Starts the listeners. A worker has no admin listener: its supervisor exports the metrics of all workers.
 * @throws Error when an address cannot be listened on
 */
export function listen(options: ListenOptions): Listeners {
  const { config, storage, authenticator, log, metrics, tracing, certificate, supervisor } = options;
  let isDraining = false;
  const readiness = { isDraining: () => isDraining, ping: () => storage.ping() };
  const mayLogFailure = limitFailureLog(log.requests);
  supervisor?.onMetricsRequest(() => metrics.snapshot());
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
    onResponse: (event) => {
      if (!event.isAborted) metrics.recordResponse(event);
      const traceId = event.isAborted ? undefined : tracing?.record(event);
      const isLogged = config.log === "requests" || (event.error !== undefined && mayLogFailure());
      if (isLogged) logResponse(log.requests, event, traceId);
    },
  });
  metrics.observe(main, storage, budget);
  const admin = supervisor === undefined ? listenForMetrics(config, metrics) : undefined;
  const stopWatching = certificate?.watch({
    onChange(next) {
      main.setCertificate(next);
      log.events.info("certificate replaced");
    },
    onFault: (err) => log.events.warn({ err }, "certificate not replaced"),
  });
  const database = formatForLog(config.database);
  log.events.info({ url: main.url, adminUrl: admin?.url, database, bun: Bun.version }, "serving");
  return {
    url: main.url,
    async stop(): Promise<void> {
      isDraining = true;
      stopWatching?.();
      main.drain();
      // A worker without a supervisor does not drain, because the next supervisor needs the port. The listener keeps the
      // process alive, so that the timer need not.
      const drained = sleep(config.drain, undefined, { ref: false });
      await Promise.race([drained, ...(supervisor === undefined ? [] : [supervisor.gone])]);
      await Promise.all([main.stop(config.stopTimeout), admin?.stop(config.stopTimeout)]);
    },
  };
}

/** One line for a request: what failed and why, or just that it was answered; one more when the answer broke off. */
function logResponse(log: Log["requests"], event: ResponseEvent, traceId: string | undefined): void {
  const { call, operation, status, durationMs, error } = event;
  const { request, requestId, owner } = call;
  const path = redact(request.url.replace(/^https?:\/\/[^/]*|\?.*$/g, ""));
  const about = {
    requestId: redact(requestId),
    ...(traceId === undefined ? {} : { traceId }),
    operation,
    method: request.method,
    path,
    ...(owner === "" ? {} : { owner }),
    status,
    durationMs: Math.round(durationMs * 1_000) / 1_000,
  };
  if (error === undefined) log.info(about, "answered");
  else if (status < 500) log.warn({ ...about, error: error.code }, error.message);
  else log.error({ ...about, error: error.code, err: error.cause }, error.message);
}
