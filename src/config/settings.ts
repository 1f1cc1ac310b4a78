import {
  choice,
  database,
  duration,
  fraction,
  host,
  httpUrl,
  integer,
  type Kind,
  networks,
  optional,
  origins,
  path,
  plainText,
  port,
  rate,
  size,
  token,
  trustedUrl,
} from "./kinds.ts";

/** A setting. Its name determines its flag and, unless `variable` names a standard one, its environment variable. */
export interface Setting<Value> extends Kind<Value> {
  readonly variable?: string;
  readonly help: string;
}

/** Declares a setting. Without a default it is required. */
function setting<Value>(kind: Omit<Setting<Value>, "help">, help: string): Setting<Value> {
  return { ...kind, help };
}

/** The settings of `serve`, in the order of its help text. */
export const SERVE_SETTINGS = {
  // Database
  database: setting(
    { ...database, default: "sqlite:data/plantstore.db" },
    "database URL: `sqlite:<file>` or `postgres://<user>:<password>@<host>:<port>/<database>`",
  ),
  queryTimeout: setting({ ...duration("100ms", "10m"), default: "5s" }, "PostgreSQL query timeout"),
  poolSize: setting({ ...integer(2, 1_000), default: "10" }, "maximum number of PostgreSQL connections per process"),

  // Server
  workers: setting(
    { ...integer(1, 64), default: "1" },
    "number of processes that share the port; more than one requires PostgreSQL and Linux",
  ),
  host: setting({ ...host, default: "127.0.0.1" }, "address to listen on"),
  port: setting({ ...port, default: "8080" }, "port to listen on; 0 picks a free port"),
  idleTimeout: setting(
    { ...duration("1s", "255s"), default: "30s" },
    "timeout for idle connections, for receiving a request body and for clients that stop reading a response",
  ),
  sendBuffer: setting(
    { ...size("16MiB", "64GiB"), default: "64MiB" },
    "memory limit for response bodies that clients have not read yet; at the limit, large responses get 503",
  ),

  // Access control
  rateLimit: setting(optional(rate), "maximum request rate per token, such as `100/s`, `6000/m` or `100000/h`"),
  failureLimit: setting(
    { ...optional(rate), default: "600/m" },
    "maximum rate of invalid tokens per client address; above it, they get 429 instead of 401; valid tokens are unaffected",
  ),
  trustedProxies: setting(
    optional(networks),
    "proxies whose `X-Forwarded-For` is trusted: comma-separated IP addresses or networks such as `10.0.0.0/8`",
  ),
  issuer: setting(
    optional(plainText("name", 255)),
    "`iss` claim of the identity provider whose tokens (JWTs) are also accepted",
  ),
  audience: setting(optional(plainText("name", 255)), "required `aud` claim of the identity provider's tokens"),
  jwksUrl: setting(optional(trustedUrl), "URL of the identity provider's public keys (JWKS)"),
  ownerClaim: setting(
    { ...plainText("name", 255), default: "sub" },
    "claim of the identity provider's tokens that names the owner",
  ),
  ownerPrefix: setting(
    { ...optional(plainText("text", 255)), default: "jwt:" },
    "prefix added to that claim to separate these owners from owners of `plt_` tokens; off disables the prefix",
  ),
  tlsCert: setting(optional(path("file")), "TLS certificate chain (PEM); reloaded when the file changes"),
  tlsKey: setting(optional(path("file")), "private key of the certificate (PEM); reloaded when the file changes"),
  corsOrigins: setting(
    optional(origins),
    "comma-separated origins whose scripts may call the API, such as `https://shop.example`",
  ),

  // Observability
  adminHost: setting({ ...host, default: "127.0.0.1" }, "address of the admin listener, which serves `/metrics`"),
  adminPort: setting(
    { ...optional(port), default: "8081" },
    "port of the admin listener; 0 picks a free port, off disables the listener",
  ),
  log: setting(
    { ...choice("failures", "requests"), default: "failures" },
    "requests to log: `failures` (at most 500 per second) or all `requests`",
  ),
  otlpEndpoint: setting(
    { ...optional(httpUrl), variable: "OTEL_EXPORTER_OTLP_ENDPOINT" },
    "base URL of an OpenTelemetry collector (OTLP over HTTP) that receives request traces; off disables tracing",
  ),
  traceRatio: setting(
    { ...fraction, default: "1" },
    "fraction of requests to trace, from 0 to 1; the sampling decision in a `traceparent` header takes precedence",
  ),

  // Shutdown
  drain: setting(
    { ...duration("0s", "10m"), default: "500ms" },
    "how long the server keeps accepting requests after a stop signal while `/readyz` returns 503",
  ),
  stopTimeout: setting(
    { ...duration("1s", "10m"), default: "10s" },
    "shutdown timeout: how long the server waits for accepted requests to complete",
  ),

  // Backups
  backupDir: setting(optional(path("folder")), "folder for scheduled backups of a SQLite database; off disables them"),
  backupEvery: setting({ ...duration("1s", "20d"), default: "1h" }, "interval between scheduled backups"),
  backupKeep: setting(
    { ...integer(1, 10_000), default: "7" },
    "number of scheduled backups to keep; older ones are deleted",
  ),
};

/** All settings of all commands: the single source of names, defaults, help texts and the README's table. */
export const SETTINGS = {
  ...SERVE_SETTINGS,

  // Copy
  from: setting(
    database,
    "source database of `copy`; set the variable instead to keep the password out of the process list",
  ),
  to: setting(
    database,
    "target database of `copy`; set the variable instead to keep the password out of the process list",
  ),

  // Client
  url: setting({ ...httpUrl, default: "http://127.0.0.1:8080" }, "base URL of the server"),
  token: setting(token, "authentication token; set the variable instead to keep it out of the process list"),
};

/** Name of a setting. */
export type SettingName = keyof typeof SETTINGS;

/** Formats the flag of a setting: `--query-timeout` for `queryTimeout`. */
export const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Formats the environment variable of a setting: `PLANTSTORE_QUERY_TIMEOUT` for `queryTimeout`. */
export function variableOf(name: SettingName): string {
  const { variable }: Setting<unknown> = SETTINGS[name];
  return variable ?? `PLANTSTORE_${name.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** Returns the names in a table of settings. */
export const namesOf = <Table extends object>(table: Table): (keyof Table)[] => Object.keys(table) as (keyof Table)[];
