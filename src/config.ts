import { LOG_CHOICES } from "./log.ts";

/** A mistake in how the program was called: it ends with the exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** One setting: `parse` returns its value, or `undefined` when the text is none; `unit` says what it takes. */
interface Setting<Value> {
  readonly flag: `--${string}`;
  readonly variable: `PLANTSTORE_${string}`;
  readonly unit: string;
  readonly default?: string;
  readonly help: string;
  readonly rule: string;
  parse(text: string): Value | undefined;
}

const setting = <Value>(setting: Setting<Value>): Setting<Value> => setting;

/** Every setting of every command: the only source of flags, variables, defaults, help and the README's table. */
export const SETTINGS = {
  database: setting({
    flag: "--database",
    variable: "PLANTSTORE_DATABASE",
    unit: "url",
    default: "sqlite:data/plantstore.db",
    help: "where the plants are kept: `sqlite:<file>` or `postgres://<user>:<password>@<host>:<port>/<database>`",
    rule: "must be sqlite:<path of a file> or postgres://<user>:<password>@<host>:<port>/<database>",
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
    help: "connections to PostgreSQL that a server holds at most",
    rule: "must be an integer from 2 to 1000",
    parse: (text) => (/^\d{1,4}$/.test(text) && Number(text) >= 2 && Number(text) <= 1_000 ? Number(text) : undefined),
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
  adminHost: setting({
    flag: "--admin-host",
    variable: "PLANTSTORE_ADMIN_HOST",
    unit: "address",
    default: "127.0.0.1",
    help: "address of the listener for /metrics",
    rule: "must be a host name or an IP address",
    parse: parseHost,
  }),
  adminPort: setting({
    flag: "--admin-port",
    variable: "PLANTSTORE_ADMIN_PORT",
    unit: "number",
    default: "8081",
    help: "port of the listener for /metrics; 0 takes a free one, off turns it off",
    rule: "must be a port from 0 to 65535, or off",
    parse: (text) => (text === "off" ? "off" : parsePort(text)),
  }),
  log: setting({
    flag: "--log",
    variable: "PLANTSTORE_LOG",
    unit: "choice",
    default: "failures",
    help: "which requests get a line in the log: failures (500 a second at most), or all requests",
    rule: `must be ${LOG_CHOICES.join(" or ")}`,
    parse: (text) => LOG_CHOICES.find((choice) => choice === text),
  }),
  idleTimeout: setting({
    flag: "--idle-timeout",
    variable: "PLANTSTORE_IDLE_TIMEOUT",
    unit: "duration",
    default: "30s",
    help: "how long a connection may be idle, a body may take to arrive, a reader may stall",
    rule: "must be a duration from 1s to 255s",
    parse: (text) => parseDuration(text, 1_000, 255_000),
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
  url: setting({
    flag: "--url",
    variable: "PLANTSTORE_URL",
    unit: "url",
    default: "http://127.0.0.1:8080",
    help: "base URL of the server",
    rule: "must be an http or https URL",
    parse: (text) => (/^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined),
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
/** The parsed values of some settings. Durations are in milliseconds. */
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

/** Milliseconds of a duration like `500ms`, `30s`, `15m`, `12h` or `30d`; `undefined` when it is none or out of bounds. */
export function parseDuration(text: string, minMs: number, maxMs: number): number | undefined {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const milliseconds = Number(amount) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  return milliseconds >= minMs && milliseconds <= maxMs ? milliseconds : undefined;
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseDatabase(text: string): string | undefined {
  if (/^sqlite:(?!:memory:).+/.test(text)) return text;
  const isServer = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
  return isServer && /^\/([^%/]|%[0-9a-fA-F]{2})+$/.test(new URL(text).pathname) ? text : undefined;
}

function parseHost(text: string): string | undefined {
  return /^[\w.:-]+$/.test(text) ? text : undefined;
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}
