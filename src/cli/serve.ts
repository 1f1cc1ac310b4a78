import { App } from "../app.ts";
import { type Config, readConfig, type SettingName } from "../config.ts";
import { SCOPES } from "../domain/token.ts";
import { metricsRoute, routes } from "../http/routes.ts";
import { type Answer, HttpServer } from "../http/server.ts";
import { type Log, limitFailures, openLog, redact, withoutSecrets } from "../log.ts";
import { Metrics } from "../metrics.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";
import { Tokens } from "../tokens.ts";
import { command } from "./command.ts";
import { linkTo } from "./token.ts";

const SERVE_SETTINGS = [
  "database",
  "queryTimeout",
  "poolSize",
  "host",
  "port",
  "adminHost",
  "adminPort",
  "log",
  "idleTimeout",
  "drain",
  "stopTimeout",
] as const satisfies readonly SettingName[];

type ServeConfig = Config<(typeof SERVE_SETTINGS)[number]>;

/** How often the last uses of tokens are written down. */
const NOTE_USES_EVERY_MS = 10_000;
/** What a stop may take beyond its settings before the process ends all the same: time for a slow disk. */
const STOP_GRACE_MS = 5_000;

/** `plantstore serve` */
export const serveCommand = () =>
  command("serve", SERVE_SETTINGS)
    .summary("run the server")
    .description(
      "Runs the server until SIGTERM or SIGINT, which let it finish what it has accepted. On an empty database it makes a token for the owner `default` and shows it once. The log goes to standard error as JSON lines.",
    )
    .action((flags) => serve(readConfig(SERVE_SETTINGS, flags)));

async function serve(config: ServeConfig): Promise<void> {
  const log = openLog();
  endOnFault(log);
  const { database, queryTimeout: queryTimeoutMs, poolSize } = config;
  const storage = await openStorage(database, { forServer: true, queryTimeoutMs, poolSize });
  const tokens = new Tokens(storage);
  const stopping = stopSignal();
  const server = listen(config, storage, tokens, log);
  const noteUses = () => tokens.noteUses().catch((err) => log.events.warn({ err }, "uses of tokens not noted"));
  const noting = setInterval(noteUses, NOTE_USES_EVERY_MS);
  const secret = await tokens.createFirst({ owner: "default", scopes: SCOPES, label: "first token" });
  console.log(`Plant Store is ready at ${server.url}${secret === undefined ? "" : introduce(secret, server.url)}`);

  log.events.info({ signal: await stopping }, "stopping");
  setTimeout(() => process.exit(1), config.drain + config.stopTimeout + STOP_GRACE_MS).unref();
  await server.stop();
  clearInterval(noting);
  await noteUses();
  await storage.close();
  log.events.info("stopped");
}

/** Starts the listeners; `stop` lets them finish. */
function listen(config: ServeConfig, storage: Storage, tokens: Tokens, log: Log) {
  let isDraining = false;
  const readiness = { isDraining: () => isDraining, ping: () => storage.ping() };
  const mayLogFailure = limitFailures(log.requests);
  const metrics = new Metrics(() => main.pendingRequests);
  const shared = { tokens, idleTimeoutSeconds: Math.ceil(config.idleTimeout / 1_000) };
  const main = new HttpServer({
    ...shared,
    host: config.host,
    port: config.port,
    routes: routes(new App(storage), readiness),
    onAnswer: (answer) => {
      if (!answer.isBreak) metrics.observe(answer);
      const isLogged = config.log === "requests" || (answer.error !== undefined && mayLogFailure());
      if (isLogged) logAnswer(log.requests, answer);
    },
  });
  const { adminHost: host, adminPort: port } = config;
  const admin =
    port === "off"
      ? undefined
      : new HttpServer({ ...shared, host, port, routes: [metricsRoute(metrics)], onAnswer: () => {} });
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

/** The first start shows a token, so that the first request needs no second command. */
const introduce = (secret: string, url: string): string => `

This token is for the owner "default". It is shown only now; make others with "token create".

  ${secret}

Open this link to see and add plants, or use curl:

  ${linkTo(url, secret)}

  curl ${url}/plants -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"id": 1, "name": "Clarkia", "tag": "annual"}'
`;

/** Resolves at the first stop signal. A second one, of either kind, ends the process at once. */
function stopSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let count = 0;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (++count > 1) process.exit(1);
      resolve(signal);
    });
  }
  return promise;
}

/** A fault that nothing caught leaves the process in an unknown state: it ends, for its supervisor to start it anew. */
function endOnFault(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.events.fatal({ err }, event);
      process.exit(1);
    });
  }
}
