import { ACCESS_SETTINGS } from "./settings/access.ts";
import {
  parseBytes,
  parseDatabase,
  parseDuration,
  parseHost,
  parseHttpUrl,
  parseInteger,
  parsePath,
  parsePort,
} from "./settings/values.ts";
import { WATCH_SETTINGS } from "./settings/watch.ts";

/** A mistake in how the program was called: it ends with the exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** One setting: `parse` returns its value, or `undefined` when the text is none; `unit` says what it takes. */
export interface Setting<Value> {
  readonly flag: `--${string}`;
  /** Another than our own where it is a standard that people have set already. */
  readonly variable: `PLANTSTORE_${string}` | "OTEL_EXPORTER_OTLP_ENDPOINT";
  readonly unit: string;
  readonly default?: string;
  readonly help: string;
  readonly rule: string;
  parse(text: string): Value | undefined;
}

const setting = <Value>(setting: Setting<Value>): Setting<Value> => setting;

const DATABASE_RULE =
  "must be sqlite:<path of a file> or postgres://<user>:<password>@<host>:<port>/<database>, with one host";

/** Every setting of every command: the only source of flags, variables, defaults, help and the README's table. */
export const SETTINGS = {
  database: setting({
    flag: "--database",
    variable: "PLANTSTORE_DATABASE",
    unit: "url",
    default: "sqlite:data/plantstore.db",
    help: "where the plants are kept: `sqlite:<file>` or `postgres://<user>:<password>@<host>:<port>/<database>`",
    rule: DATABASE_RULE,
    parse: parseDatabase,
  }),
  from: setting({
    flag: "--from",
    variable: "PLANTSTORE_FROM",
    unit: "url",
    help: "the database that `copy` reads; the variable keeps its password out of the process list",
    rule: DATABASE_RULE,
    parse: parseDatabase,
  }),
  to: setting({
    flag: "--to",
    variable: "PLANTSTORE_TO",
    unit: "url",
    help: "the database that `copy` fills; the variable keeps its password out of the process list",
    rule: DATABASE_RULE,
    parse: parseDatabase,
  }),
  queryTimeout: setting({
    flag: "--query-timeout",
    variable: "PLANTSTORE_QUERY_TIMEOUT",
    unit: "duration",
    default: "5s",
    help: "how long PostgreSQL may take for an answer",
    rule: "must be a duration from 100ms to 10m",
    parse: (text) => parseDuration(text, 100, 600_000),
  }),
  poolSize: setting({
    flag: "--pool-size",
    variable: "PLANTSTORE_POOL_SIZE",
    unit: "number",
    default: "10",
    help: "connections to PostgreSQL that each server process holds at most",
    rule: "must be an integer from 2 to 1000",
    parse: (text) => parseInteger(text, 2, 1_000),
  }),
  workers: setting({
    flag: "--workers",
    variable: "PLANTSTORE_WORKERS",
    unit: "number",
    default: "1",
    help: "processes that serve together on one port; more than one needs PostgreSQL and Linux",
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
    help: "port to listen on; 0 takes a free one",
    rule: "must be a port from 0 to 65535",
    parse: parsePort,
  }),
  ...ACCESS_SETTINGS,
  ...WATCH_SETTINGS,
  idleTimeout: setting({
    flag: "--idle-timeout",
    variable: "PLANTSTORE_IDLE_TIMEOUT",
    unit: "duration",
    default: "30s",
    help: "how long a connection may be idle, a body may take to arrive, a reader may stall",
    rule: "must be a duration from 1s to 255s",
    parse: (text) => parseDuration(text, 1_000, 255_000),
  }),
  sendBuffer: setting({
    flag: "--send-buffer",
    variable: "PLANTSTORE_SEND_BUFFER",
    unit: "size",
    default: "64MiB",
    help: "memory for response bodies that clients have not read yet; when it is used up, large responses get 503",
    rule: "must be a size from 16MiB to 64GiB, such as 64MiB",
    parse: (text) => parseBytes(text, 16 * 1024 ** 2, 64 * 1024 ** 3),
  }),
  drain: setting({
    flag: "--drain",
    variable: "PLANTSTORE_DRAIN",
    unit: "duration",
    default: "500ms",
    help: "how long a stopping server goes on taking requests while /readyz says 503",
    rule: "must be a duration from 0s to 10m",
    parse: (text) => parseDuration(text, 0, 600_000),
  }),
  stopTimeout: setting({
    flag: "--stop-timeout",
    variable: "PLANTSTORE_STOP_TIMEOUT",
    unit: "duration",
    default: "10s",
    help: "how long a stopping server waits for the requests it has accepted",
    rule: "must be a duration from 1s to 10m",
    parse: (text) => parseDuration(text, 1_000, 600_000),
  }),
  backupDir: setting({
    flag: "--backup-dir",
    variable: "PLANTSTORE_BACKUP_DIR",
    unit: "folder",
    default: "off",
    help: "folder for regular backups of a SQLite database; off makes none",
    rule: "must be a folder, or off",
    parse: parsePath,
  }),
  backupEvery: setting({
    flag: "--backup-every",
    variable: "PLANTSTORE_BACKUP_EVERY",
    unit: "duration",
    default: "1h",
    help: "time from one regular backup to the next",
    rule: "must be a duration from 1s to 20d",
    parse: (text) => parseDuration(text, 1_000, 20 * 86_400_000),
  }),
  backupKeep: setting({
    flag: "--backup-keep",
    variable: "PLANTSTORE_BACKUP_KEEP",
    unit: "number",
    default: "7",
    help: "regular backups to keep: with one more, the oldest is deleted",
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
    help: "token to use; the variable keeps it out of the process list",
    rule: "must be a token as `plantstore token create` prints it",
    parse: (text) => (/^[\x21-\x7e]+$/.test(text) ? text : undefined),
  }),
};

/** The name of a setting: its flag in camel case. */
export type SettingName = keyof typeof SETTINGS;
/** The parsed values of some settings. Durations are in milliseconds, sizes in bytes. */
export type Config<Name extends SettingName> = {
  readonly [N in Name]: NonNullable<ReturnType<(typeof SETTINGS)[N]["parse"]>>;
};

/**
 * Reads settings from flags, then the environment, then the defaults.
 * @throws UsageError that names every bad or missing setting at once
 */
export function readConfig<Name extends SettingName>(
  names: readonly Name[],
  flags: Readonly<Record<string, unknown>>,
): Config<Name> {
  const faults: string[] = [];
  const values = names.map((name) => {
    const { flag, variable, rule, parse, ...rest } = SETTINGS[name] as Setting<unknown>;
    const [source, text] =
      typeof flags[name] === "string" ? [flag, flags[name]] : [variable, process.env[variable] || rest.default];
    const value = text === undefined ? undefined : parse(text);
    if (value === undefined)
      faults.push(text === undefined ? `${flag} or ${variable} is missing` : `${source} ${rule}`);
    return [name, value];
  });
  if (faults.length > 0) throw new UsageError(faults.join("; "));
  return Object.fromEntries(values) as Config<Name>;
}
