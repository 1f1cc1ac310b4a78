import { withIssuer } from "../auth/authenticator.ts";
import { Tokens } from "../auth/tokens.ts";
import { SCOPES } from "../domain/token.ts";
import { type Log, openLog } from "../observability/log.ts";
import { Metrics } from "../observability/metrics.ts";
import type { Tracing } from "../observability/tracing.ts";
import { openStorage } from "../storage/open.ts";
import { announce } from "./announcement.ts";
import { CertificateFiles } from "./certificate-files.ts";
import type { ServeConfig } from "./config.ts";
import { openIssuer } from "./issuer.ts";
import { listen } from "./listeners.ts";
import { killOnUncaughtError } from "./process.ts";
import { runScheduledBackups } from "./scheduled-backups.ts";
import { onReload, stopSignal, waitForStop } from "./signals.ts";
import { SupervisorChannel } from "./supervisor-channel.ts";

/** Interval at which the last-use times of tokens are stored. */
const LAST_USES_INTERVAL_MS = 10_000;

/** Runs a server as the worker with this number. */
export async function serveAsWorker(config: ServeConfig, number: number): Promise<void> {
  const supervisor = new SupervisorChannel(number);
  await serve(config, supervisor).catch(supervisor.reportStartFailure);
}

/** Runs a server until a stop signal. A failed start closes nothing, because the process ends. */
export async function serve(config: ServeConfig, supervisor?: SupervisorChannel): Promise<void> {
  const log = openLog(supervisor?.worker);
  killOnUncaughtError(log);
  const certificate = CertificateFiles.open(config, log.events);
  onReload(() => {
    log.events.info({ signal: "SIGHUP" }, "reloading");
    certificate?.check();
  });
  const issuer = await openIssuer(config, log.events);
  const { database, queryTimeout: queryTimeoutMs, poolSize, backupDir } = config;

  // Closed in reverse order. Tracing comes first, so that a slow collector does not delay closing the database.
  const resources = new AsyncDisposableStack();
  const tracing = await openTracing(config, log.events, supervisor?.worker);
  resources.defer(() => tracing?.close());
  const metrics = new Metrics(supervisor?.worker);
  const onCommit = metrics.recordCommit.bind(metrics);
  const storage = await openStorage(database, { forServer: true, queryTimeoutMs, poolSize, onCommit });
  resources.defer(() => storage.close());
  const stopping = supervisor?.stopping ?? stopSignal();
  const tokens = new Tokens(storage);
  resources.defer(startStoringLastUses(tokens, log.events));
  const authenticator = withIssuer(tokens, issuer);
  const server = listen({ config, storage, authenticator, log, metrics, tracing, certificate, supervisor });
  const secret = await tokens.createFirst({ owner: "default", scopes: SCOPES, label: "first token" });
  (supervisor?.announce ?? announce)({ url: server.url, secret });
  const shutdown = new AbortController();
  const schedule = backupDir === undefined ? undefined : { ...config, backupDir };
  const backups = schedule && runScheduledBackups({ schedule, log: log.events, metrics, signal: shutdown.signal });

  await waitForStop(stopping, config, log.events);
  shutdown.abort();
  await Promise.all([server.stop(), backups]);
  await resources.disposeAsync();
  log.events.info("stopped");
  supervisor?.close();
}

/** Starts tracing if a collector is configured. OpenTelemetry is loaded only then. */
async function openTracing(
  { otlpEndpoint, traceRatio }: ServeConfig,
  log: Log["events"],
  worker: number | undefined,
): Promise<Tracing | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  const { Tracing } = await import("../observability/tracing.ts");
  return new Tracing(otlpEndpoint, traceRatio, worker, log);
}

/** Starts a timer that stores the last-use times of tokens. Returns a function that stops it and stores them a last time. */
function startStoringLastUses(tokens: Tokens, log: Log["events"]): () => Promise<void> {
  const store = () =>
    tokens.storeLastUses().catch((err) => log.warn({ err }, "cannot store the last-use times of tokens"));
  const timer = setInterval(store, LAST_USES_INTERVAL_MS);
  return async () => {
    clearInterval(timer);
    await store();
  };
}
