import { Option } from "commander";
import { App } from "../app.ts";
import { type Config, readConfig, type SettingName } from "../config.ts";
import { SCOPES } from "../domain/token.ts";
import { routes } from "../http/routes.ts";
import { type Answer, HttpServer } from "../http/server.ts";
import { type Log, limitFailures, openLog, redact, withoutSecrets } from "../log.ts";
import { Metrics } from "../metrics.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { Tokens } from "../tokens.ts";
import { listenForMetrics } from "./admin.ts";
import { command } from "./command.ts";
import { announce, endInTime, endOnFault, stopSignal } from "./life.ts";
import { connectToSupervisor, type Supervisor } from "./worker.ts";
import { supervise } from "./workers.ts";

const SERVE_SETTINGS = [
  "database",
  "queryTimeout",
  "poolSize",
  "workers",
  "host",
  "port",
  "adminHost",
  "adminPort",
  "log",
  "idleTimeout",
  "drain",
  "stopTimeout",
] as const satisfies readonly SettingName[];

/** The settings of `serve`. */
export type ServeConfig = Config<(typeof SERVE_SETTINGS)[number]>;

/** How often the last uses of tokens are written down. */
const NOTE_USES_EVERY_MS = 10_000;

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
  endOnFault(log);
  const { database, queryTimeout: queryTimeoutMs, poolSize } = config;
  const storage = await openStorage(database, { forServer: true, queryTimeoutMs, poolSize });
  const tokens = new Tokens(storage);
  const stopping = supervisor?.stopping ?? stopSignal();
  const server = listen(config, storage, tokens, log, supervisor);
  const noteUses = () => tokens.noteUses().catch((err) => log.events.warn({ err }, "uses of tokens not noted"));
  const noting = setInterval(noteUses, NOTE_USES_EVERY_MS);
  const secret = await tokens.createFirst({ owner: "default", scopes: SCOPES, label: "first token" });
  (supervisor?.announce ?? announce)({ url: server.url, secret });

  log.events.info({ signal: await stopping }, "stopping");
  endInTime(config);
  await server.stop();
  clearInterval(noting);
  await noteUses();
  await storage.close();
  log.events.info("stopped");
  supervisor?.leave();
}

/** Starts the listeners; `stop` lets them finish. A worker has one: its supervisor shows the figures of all. */
function listen(config: ServeConfig, storage: Storage, tokens: Tokens, log: Log, supervisor?: Supervisor) {
  let isDraining = false;
  const readiness = { isDraining: () => isDraining, ping: () => storage.ping() };
  const mayLogFailure = limitFailures(log.requests);
  const metrics = new Metrics(() => main.pendingRequests, supervisor?.worker);
  supervisor?.onAskedForFigures(() => metrics.figures());
  const main = new HttpServer({
    host: config.host,
    port: config.port,
    reusePort: supervisor !== undefined,
    idleTimeoutSeconds: Math.ceil(config.idleTimeout / 1_000),
    routes: routes(new App(storage), readiness),
    tokens,
    onAnswer: (answer) => {
      if (!answer.isBreak) metrics.observe(answer);
      const isLogged = config.log === "requests" || (answer.error !== undefined && mayLogFailure());
      if (isLogged) logAnswer(log.requests, answer);
    },
  });
  const admin = supervisor === undefined ? listenForMetrics(config, metrics) : undefined;
  const database = withoutSecrets(config.database);
  log.events.info({ url: main.url, adminUrl: admin?.url, database, bun: Bun.version }, "serving");
  return {
    url: main.url,
    async stop(): Promise<void> {
      isDraining = true;
      main.drain();
      await Bun.sleep(config.drain);
      await Promise.all([main.stop(config.stopTimeout), admin?.stop(config.stopTimeout)]);
    },
  };
}

/** One line for a request: what failed and why, or just that it was answered; one more when the answer broke off. */
function logAnswer(log: Log["requests"], { call, operation, status, durationMs, error }: Answer): void {
  const { request, requestId, owner } = call;
  const path = redact(request.url.replace(/^https?:\/\/[^/]*|\?.*$/g, ""));
  const about = {
    requestId: redact(requestId),
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
