import { Option } from "commander";
import { type Config, readConfig, type SettingName } from "../config.ts";
import { SCOPES } from "../domain/token.ts";
import { openLog } from "../log.ts";
import { Metrics } from "../metrics.ts";
import { ACCESS_SETTINGS } from "../settings/access.ts";
import { OBSERVABILITY_SETTINGS } from "../settings/observability.ts";
import { openStorage } from "../storage/open.ts";
import { Tokens } from "../tokens.ts";
import { CertificateFiles } from "./certificate.ts";
import { command } from "./command.ts";
import { openIssuer, withIssuer } from "./issuer.ts";
import { announce, endOnUncaughtError, forceExitAfterTimeout, onReload, stopSignal } from "./life.ts";
import { listen } from "./listen.ts";
import { requireSqlite } from "./maintenance.ts";
import { ScheduledBackups } from "./scheduled-backups.ts";
import { openTracing } from "./tracing.ts";
import { connectToSupervisor, type Supervisor } from "./worker.ts";
import { supervise } from "./workers.ts";

const SERVE_SETTINGS = [
  "database",
  "queryTimeout",
  "poolSize",
  "workers",
  "host",
  "port",
  ...(Object.keys(ACCESS_SETTINGS) as (keyof typeof ACCESS_SETTINGS)[]),
  ...(Object.keys(OBSERVABILITY_SETTINGS) as (keyof typeof OBSERVABILITY_SETTINGS)[]),
  "idleTimeout",
  "sendBuffer",
  "drain",
  "stopTimeout",
  "backupDir",
  "backupEvery",
  "backupKeep",
] as const satisfies readonly SettingName[];

/** The settings of `serve`. */
export type ServeConfig = Config<(typeof SERVE_SETTINGS)[number]>;

/** Interval at which the last uses of tokens are stored. */
const STORE_USES_EVERY_MS = 10_000;

/** `plantstore serve` */
export const serveCommand = () =>
  command("serve", SERVE_SETTINGS)
    .summary("run the server")
    .description(
      "Runs the server until SIGTERM or SIGINT, which let it finish what it has accepted. On an empty database it makes a token for the owner `default` and shows it once. The log goes to standard error as JSON lines.",
    )
    .addOption(new Option("--worker <number>", "set by a supervisor for each of its workers").hideHelp())
    .action(({ worker, ...flags }) => {
      const config = readConfig(SERVE_SETTINGS, flags);
      if (worker !== undefined) return work(config, Number(worker));
      return config.workers === 1 ? serve(config) : supervise(config);
    });

async function work(config: ServeConfig, number: number): Promise<void> {
  const supervisor = connectToSupervisor(number);
  await serve(config, supervisor).catch(supervisor.giveUp);
}

async function serve(config: ServeConfig, supervisor?: Supervisor): Promise<void> {
  const log = openLog(supervisor?.worker);
  endOnUncaughtError(log);
  const certificate = CertificateFiles.open(config);
  onReload(() => {
    log.events.info({ signal: "SIGHUP" }, "reloading");
    certificate?.check();
  });
  const issuer = await openIssuer(config, log.events);
  const { database, queryTimeout: queryTimeoutMs, poolSize } = config;
  if (config.backupDir !== "off") requireSqlite("--backup-dir", database);
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
  const backups = new ScheduledBackups(config, log.events, metrics);
  const storeUses = () =>
    tokens.storeLastUses().catch((err) => log.events.warn({ err }, "cannot store the last uses of tokens"));
  const noting = setInterval(storeUses, STORE_USES_EVERY_MS);
  const secret = await tokens.createFirst({ owner: "default", scopes: SCOPES, label: "first token" });
  (supervisor?.announce ?? announce)({ url: server.url, secret });
  backups.start();

  log.events.info({ signal: await stopping }, "stopping");
  forceExitAfterTimeout(config);
  await Promise.all([server.stop(), backups.stop()]);
  const traced = tracing?.close();
  clearInterval(noting);
  await storeUses();
  await storage.close();
  await traced;
  log.events.info("stopped");
  supervisor?.leave();
}
