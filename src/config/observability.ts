import type { Setting } from "./setting.ts";
import { orOff, parseHost, parseHttpUrl, parsePort } from "./values.ts";

/** The requests to log: failed ones, or all. Lifecycle events are always logged. */
const LOG_CHOICES = ["failures", "requests"] as const;

/** Settings of `serve` for metrics, logs and traces. */
export const OBSERVABILITY_SETTINGS = {
  adminHost: {
    flag: "--admin-host",
    variable: "PLANTSTORE_ADMIN_HOST",
    unit: "address",
    default: "127.0.0.1",
    help: "address of the admin listener, which serves `/metrics`",
    rule: "must be a host name or an IP address",
    parse: parseHost,
  },
  adminPort: {
    flag: "--admin-port",
    variable: "PLANTSTORE_ADMIN_PORT",
    unit: "number",
    default: "8081",
    help: "port of the admin listener; 0 picks a free port, off disables the listener",
    rule: "must be a port from 0 to 65535, or off",
    parse: orOff(parsePort),
  },
  log: {
    flag: "--log",
    variable: "PLANTSTORE_LOG",
    unit: "choice",
    default: "failures",
    help: "requests to log: `failures` (at most 500 per second) or all `requests`",
    rule: `must be ${LOG_CHOICES.join(" or ")}`,
    parse: (text) => LOG_CHOICES.find((choice) => choice === text),
  },
  otlpEndpoint: {
    flag: "--otlp-endpoint",
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    unit: "url",
    default: "off",
    help: "base URL of an OpenTelemetry collector (OTLP over HTTP) that receives request traces; off disables tracing",
    rule: "must be an http or https URL, or off",
    parse: orOff(parseHttpUrl),
  },
  traceRatio: {
    flag: "--trace-ratio",
    variable: "PLANTSTORE_TRACE_RATIO",
    unit: "number",
    default: "1",
    help: "fraction of requests to trace, from 0 to 1; the sampling decision in a `traceparent` header takes precedence",
    rule: "must be a number from 0 to 1",
    parse: (text) => (/^(?:0|1(?:\.0+)?|0?\.\d+)$/.test(text) ? Number(text) : undefined),
  },
} as const satisfies Record<string, Setting<unknown>>;
