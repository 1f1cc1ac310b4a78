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

type Declaration<Value> = { readonly kind: Kind<Value> } & Pick<Setting<Value>, "default" | "variable">;

/** Declares a setting. It is required if neither the declaration nor the kind has a default. */
function setting<Value>({ kind, ...rest }: Declaration<Value>, help: string): Setting<Value> {
  return { ...kind, ...rest, help };
}

/** The settings of `serve`, in the order of its help text. */
export const SERVE_SETTINGS = {
  // Database
  database: setting(
    { kind: database, default: "sqlite:data/plantstore.db" },
    "database URL: `sqlite:<file>` or `postgres://<user>:<password>@<host>:<port>/<database>`",
  ),
  queryTimeout: setting({ kind: duration("100ms", "10m"), default: "5s" }, "PostgreSQL query timeout"),
  poolSize: setting({ kind: integer(2, 1_000), default: "10" }, "maximum number of PostgreSQL connections per process"),

  // Server
  workers: setting(
    { kind: integer(1, 64), default: "1" },
    "number of processes that share the port; more than one requires PostgreSQL and Linux",
  ),
  host: setting({ kind: host, default: "127.0.0.1" }, "address to listen on"),
  port: setting({ kind: port, default: "8080" }, "port to listen on; 0 picks a free port"),
  idleTimeout: setting(
    { kind: duration("1s", "255s"), default: "30s" },
    "timeout for idle connections, for receiving a request body and for clients that stop reading a response",
  ),
  sendBuffer: setting(
    { kind: size("16MiB", "64GiB"), default: "64MiB" },
    "memory limit for response bodies that clients have not read yet; at the limit, large responses get 503",
  ),

  // Access control
  rateLimit: setting(
    { kind: optional(rate) },
    "maximum request rate per token, such as `100/s`, `6000/m` or `100000/h`",
  ),
  failureLimit: setting(
    { kind: optional(rate), default: "600/m" },
    "maximum rate of invalid tokens per client address; above it they get 429 instead of 401, valid tokens are unaffected",
  ),
  trustedProxies: setting(
    { kind: optional(networks) },
    "proxies whose `X-Forwarded-For` is trusted: comma-separated IP addresses or networks such as `10.0.0.0/8`",
  ),
  issuer: setting(
    { kind: optional(plainText("name", 255)) },
    "`iss` claim of the identity provider whose tokens (JWTs) are also accepted",
  ),
  audience: setting(
    { kind: optional(plainText("name", 255)) },
    "required `aud` claim of the identity provider's tokens",
  ),
  jwksUrl: setting({ kind: optional(trustedUrl) }, "URL of the identity provider's public keys (JWKS)"),
  ownerClaim: setting(
    { kind: plainText("name", 255), default: "sub" },
    "claim of the identity provider's tokens that names the owner",
  ),
  ownerPrefix: setting(
    { kind: optional(plainText("text", 255)), default: "jwt:" },
    "prefix added to that claim, to separate these owners from those of `plt_` tokens; off adds none",
  ),
  tlsCert: setting({ kind: optional(path("file")) }, "TLS certificate chain (PEM); reloaded when the file changes"),
  tlsKey: setting({ kind: optional(path("file")) }, "private key of the certificate (PEM); reloaded with it"),
  corsOrigins: setting(
    { kind: optional(origins) },
    "comma-separated origins whose scripts may call the API, such as `https://shop.example`",
  ),

  // Observability
  adminHost: setting({ kind: host, default: "127.0.0.1" }, "address of the admin listener, which serves `/metrics`"),
  adminPort: setting(
    { kind: optional(port), default: "8081" },
    "port of the admin listener; 0 picks a free port, off disables the listener",
  ),
  log: setting(
    { kind: choice("failures", "requests"), default: "failures" },
    "requests to log: `failures` (at most 500 per second) or all `requests`",
  ),
  otlpEndpoint: setting(
    { kind: optional(httpUrl), variable: "OTEL_EXPORTER_OTLP_ENDPOINT" },
    "base URL of an OpenTelemetry collector (OTLP over HTTP) that receives request traces; off disables tracing",
  ),
  traceRatio: setting(
    { kind: fraction, default: "1" },
    "fraction of requests to trace, from 0 to 1; the sampling decision in a `traceparent` header takes precedence",
  ),

  // Shutdown
  drain: setting(
    { kind: duration("0s", "10m"), default: "500ms" },
    "how long the server keeps accepting requests after a stop signal while `/readyz` returns 503",
  ),
  stopTimeout: setting(
    { kind: duration("1s", "10m"), default: "10s" },
    "shutdown timeout: how long the server waits for accepted requests to complete",
  ),

  // Backups
  backupDir: setting(
    { kind: optional(path("folder")) },
    "folder for scheduled backups of a SQLite database; off disables them",
  ),
  backupEvery: setting({ kind: duration("1s", "20d"), default: "1h" }, "interval between scheduled backups"),
  backupKeep: setting(
    { kind: integer(1, 10_000), default: "7" },
    "number of scheduled backups to keep; older ones are deleted",
  ),
};

/** All settings of all commands: the single source of names, defaults, help texts and the README's table. */
export const SETTINGS = {
  ...SERVE_SETTINGS,

  // Copy
  from: setting(
    { kind: database },
    "source database of `copy`; set the variable instead to keep the password out of the process list",
  ),
  to: setting(
    { kind: database },
    "target database of `copy`; set the variable instead to keep the password out of the process list",
  ),

  // Client
  url: setting({ kind: httpUrl, default: "http://127.0.0.1:8080" }, "base URL of the server"),
  token: setting({ kind: token }, "authentication token; set the variable instead to keep it out of the process list"),
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
