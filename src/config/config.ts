import { parseDatabaseUrl } from "../storage/database-url.ts";
import { ACCESS_SETTINGS } from "./access.ts";
import { OBSERVABILITY_SETTINGS } from "./observability.ts";
import type { Setting } from "./setting.ts";
import { parseBytes, parseDuration, parseHost, parseHttpUrl, parseInteger, parsePath, parsePort } from "./values.ts";

/** Invalid arguments or settings. The program exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const setting = <Value>(setting: Setting<Value>): Setting<Value> => setting;

const DATABASE_RULE =
  "must be sqlite:<file> or postgres://<user>:<password>@<host>:<port>/<database> with a single host";

/** All settings of all commands: the single source of flags, variables, defaults, help texts and the README's table. */
export const SETTINGS = {
  database: setting({
    flag: "--database",
    variable: "PLANTSTORE_DATABASE",
    unit: "url",
    default: "sqlite:data/plantstore.db",
    help: "database URL: `sqlite:<file>` or `postgres://<user>:<password>@<host>:<port>/<database>`",
    rule: DATABASE_RULE,
    parse: parseDatabaseUrl,
  }),
  from: setting({
    flag: "--from",
    variable: "PLANTSTORE_FROM",
    unit: "url",
    help: "source database of `copy`; set the variable instead to keep the password out of the process list",
    rule: DATABASE_RULE,
    parse: parseDatabaseUrl,
  }),
  to: setting({
    flag: "--to",
    variable: "PLANTSTORE_TO",
    unit: "url",
    help: "target database of `copy`; set the variable instead to keep the password out of the process list",
    rule: DATABASE_RULE,
    parse: parseDatabaseUrl,
  }),
  queryTimeout: setting({
    flag: "--query-timeout",
    variable: "PLANTSTORE_QUERY_TIMEOUT",
    unit: "duration",
    default: "5s",
    help: "PostgreSQL query timeout",
    rule: "must be a duration from 100ms to 10m",
    parse: (text) => parseDuration(text, 100, 600_000),
  }),
  poolSize: setting({
    flag: "--pool-size",
    variable: "PLANTSTORE_POOL_SIZE",
    unit: "number",
    default: "10",
    help: "maximum number of PostgreSQL connections per process",
    rule: "must be an integer from 2 to 1000",
    parse: (text) => parseInteger(text, 2, 1_000),
  }),
  workers: setting({
    flag: "--workers",
    variable: "PLANTSTORE_WORKERS",
    unit: "number",
    default: "1",
    help: "number of processes that share the port; more than one requires PostgreSQL and Linux",
    rule: "must be an integer from 1 to 64",
    parse: (text) => parseInteger(text, 1, 64),
  }),
  host: setting({
    flag: "--host",
    variable: "PLANTSTORE_HOST",
    unit: "address",
    default: "127.0.0.1",
    help: "address to listen on",
    rule: "must be a host name or an IP address",
    parse: parseHost,
  }),
  port: setting({
    flag: "--port",
    variable: "PLANTSTORE_PORT",
    unit: "number",
    default: "8080",
    help: "port to listen on; 0 picks a free port",
    rule: "must be a port from 0 to 65535",
    parse: parsePort,
  }),
  ...ACCESS_SETTINGS,
  ...OBSERVABILITY_SETTINGS,
  idleTimeout: setting({
    flag: "--idle-timeout",
    variable: "PLANTSTORE_IDLE_TIMEOUT",
    unit: "duration",
    default: "30s",
    help: "timeout for idle connections, for receiving a request body and for clients that stop reading a response",
    rule: "must be a duration from 1s to 255s",
    parse: (text) => parseDuration(text, 1_000, 255_000),
  }),
  sendBuffer: setting({
    flag: "--send-buffer",
    variable: "PLANTSTORE_SEND_BUFFER",
    unit: "size",
    default: "64MiB",
    help: "memory limit for response bodies that clients have not read yet; at the limit, large responses get 503",
    rule: "must be a size from 16MiB to 64GiB, such as 64MiB",
    parse: (text) => parseBytes(text, 16 * 1024 ** 2, 64 * 1024 ** 3),
  }),
  drain: setting({
    flag: "--drain",
    variable: "PLANTSTORE_DRAIN",
    unit: "duration",
    default: "500ms",
    help: "how long the server keeps accepting requests after a stop signal while `/readyz` returns 503",
    rule: "must be a duration from 0s to 10m",
    parse: (text) => parseDuration(text, 0, 600_000),
  }),
  stopTimeout: setting({
    flag: "--stop-timeout",
    variable: "PLANTSTORE_STOP_TIMEOUT",
    unit: "duration",
    default: "10s",
    help: "shutdown timeout: how long the server waits for accepted requests to complete",
    rule: "must be a duration from 1s to 10m",
    parse: (text) => parseDuration(text, 1_000, 600_000),
  }),
  backupDir: setting({
    flag: "--backup-dir",
    variable: "PLANTSTORE_BACKUP_DIR",
    unit: "folder",
    default: "off",
    help: "folder for scheduled backups of a SQLite database; off disables them",
    rule: "must be a path, or off",
    parse: parsePath,
  }),
  backupEvery: setting({
    flag: "--backup-every",
    variable: "PLANTSTORE_BACKUP_EVERY",
    unit: "duration",
    default: "1h",
    help: "interval between scheduled backups",
    rule: "must be a duration from 1s to 20d",
    parse: (text) => parseDuration(text, 1_000, 20 * 86_400_000),
  }),
  backupKeep: setting({
    flag: "--backup-keep",
    variable: "PLANTSTORE_BACKUP_KEEP",
    unit: "number",
    default: "7",
    help: "number of scheduled backups to keep; older ones are deleted",
    rule: "must be an integer from 1 to 10000",
    parse: (text) => parseInteger(text, 1, 10_000),
  }),
  url: setting({
    flag: "--url",
    variable: "PLANTSTORE_URL",
    unit: "url",
    default: "http://127.0.0.1:8080",
    help: "base URL of the server",
    rule: "must be an http or https URL",
    parse: parseHttpUrl,
  }),
  token: setting({
    flag: "--token",
    variable: "PLANTSTORE_TOKEN",
    unit: "token",
    help: "authentication token; set the variable instead to keep it out of the process list",
    rule: "must be a token from `plantstore token create`",
    parse: (text) => (/^[\x21-\x7e]+$/.test(text) ? text : undefined),
  }),
};

/** Name of a setting: its flag in camel case. */
export type SettingName = keyof typeof SETTINGS;
/** Parsed values of some settings. Durations are in milliseconds, sizes in bytes. */
export type Config<Name extends SettingName> = {
  readonly [N in Name]: NonNullable<ReturnType<(typeof SETTINGS)[N]["parse"]>>;
};

/**
 * Reads settings. Flags take precedence over environment variables, which take precedence over defaults.
 * @throws UsageError that lists all invalid and missing settings
 */
export function readConfig<Name extends SettingName>(
  names: readonly Name[],
  flags: Readonly<Record<string, unknown>>,
): Config<Name> {
  const problems: string[] = [];
  const values = names.map((name) => {
    const { flag, variable, rule, parse, ...rest } = SETTINGS[name] as Setting<unknown>;
    const [source, text] =
      typeof flags[name] === "string" ? [flag, flags[name]] : [variable, process.env[variable] || rest.default];
    const value = text === undefined ? undefined : parse(text);
    if (value === undefined)
      problems.push(text === undefined ? `${flag} or ${variable} is required` : `${source} ${rule}`);
    return [name, value];
  });
  if (problems.length > 0) throw new UsageError(problems.join("; "));
  return Object.fromEntries(values) as Config<Name>;
}
