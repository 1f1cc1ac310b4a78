import { withIssuer } from "../auth/authenticator.ts";
import { Tokens } from "../auth/tokens.ts";
import { requireSqlite } from "../cli/maintenance.ts";
import { SCOPES } from "../domain/token.ts";
import { openLog } from "../observability/log.ts";
import { Metrics } from "../observability/metrics.ts";
import { openStorage } from "../storage/open.ts";
import { CertificateFiles } from "./certificate-files.ts";
import type { ServeConfig } from "./config.ts";
import { openIssuer } from "./issuer.ts";
import { listen } from "./listeners.ts";
import { announce, endOnUncaughtError, forceExitAfterTimeout, onReload, stopSignal } from "./process.ts";
import { ScheduledBackups } from "./scheduled-backups.ts";
import { openTracing } from "./tracing.ts";
import { connectToSupervisor, type Supervisor } from "./worker.ts";

/** Interval at which the last uses of tokens are stored. */
const STORE_USES_EVERY_MS = 10_000;

/** Runs a server as the worker with this number. */
export async function serveAsWorker(config: ServeConfig, number: number): Promise<void> {
  const supervisor = connectToSupervisor(number);
  await serve(config, supervisor).catch(supervisor.giveUp);
}

/** Runs a server until a stop signal. */
export async function serve(config: ServeConfig, supervisor?: Supervisor): Promise<void> {
  const log = openLog(supervisor?.worker);
  endOnUncaughtError(log);
  const certificate = CertificateFiles.open(config);
  onReload(() => {
    log.events.info({ signal: "SIGHUP" }, "reloading");
    certificate?.check();
  });
  const issuer = await openIssuer(config, log.events);
  const { database, queryTimeout: queryTimeoutMs, poolSize, backupDir } = config;
  if (backupDir !== undefined) requireSqlite("--backup-dir", database);
  const metrics = new Metrics(supervisor?.worker);
  const storage = await openStorage(database, {
    forServer: true,
    queryTimeoutMs,
    poolSize,
    onCommit: (commit) => metrics.recordCommit(commit),
  });
  const tokens = new Tokens(storage);
  const stopping = supervisor?.stopping ?? stopSignal();
  const tracing = await openTracing(config, log, supervisor?.worker);
  const authenticator = withIssuer(tokens, issuer);
  const server = listen({ config, storage, authenticator, log, metrics, tracing, certificate, supervisor });
  const backups =
    backupDir === undefined ? undefined : new ScheduledBackups({ ...config, backupDir }, log.events, metrics);
  const storeUses = () =>
    tokens.storeLastUses().catch((err) => log.events.warn({ err }, "cannot store the last uses of tokens"));
  const noting = setInterval(storeUses, STORE_USES_EVERY_MS);
  const secret = await tokens.createFirst({ owner: "default", scopes: SCOPES, label: "first token" });
  (supervisor?.announce ?? announce)({ url: server.url, secret });
  backups?.start();

  log.events.info({ signal: await stopping }, "stopping");
  forceExitAfterTimeout(config);
  await Promise.all([server.stop(), backups?.stop()]);
  const traced = tracing?.close();
  clearInterval(noting);
  await storeUses();
  await storage.close();
  await traced;
  log.events.info("stopped");
  supervisor?.leave();
}
