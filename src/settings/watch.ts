import type { Setting } from "../config.ts";
import { LOG_CHOICES } from "../log.ts";
import { orOff, parseHost, parseHttpUrl, parsePort } from "./values.ts";

/** The settings of `serve` that say what is told of it, and to whom. */
export const WATCH_SETTINGS = {
  adminHost: {
    flag: "--admin-host",
    variable: "PLANTSTORE_ADMIN_HOST",
    unit: "address",
    default: "127.0.0.1",
    help: "address of the listener for /metrics",
    rule: "must be a host name or an IP address",
    parse: parseHost,
  },
  adminPort: {
    flag: "--admin-port",
    variable: "PLANTSTORE_ADMIN_PORT",
    unit: "number",
    default: "8081",
    help: "port of the listener for /metrics; 0 takes a free one, off turns it off",
    rule: "must be a port from 0 to 65535, or off",
    parse: orOff(parsePort),
  },
  log: {
    flag: "--log",
    variable: "PLANTSTORE_LOG",
    unit: "choice",
    default: "failures",
    help: "which requests get a line in the log: failures (500 a second at most), or all requests",
    rule: `must be ${LOG_CHOICES.join(" or ")}`,
    parse: (text) => LOG_CHOICES.find((choice) => choice === text),
  },
  otlpEndpoint: {
    flag: "--otlp-endpoint",
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    unit: "url",
    default: "off",
    help: "base URL of an OpenTelemetry collector that gets a trace of each request (OTLP over HTTP); off sends none",
    rule: "must be an http or https URL, or off",
    parse: orOff(parseHttpUrl),
  },
  traceRatio: {
    flag: "--trace-ratio",
    variable: "PLANTSTORE_TRACE_RATIO",
    unit: "number",
    default: "1",
    help: "which part of the requests is traced, from 0 to 1, unless the caller has decided (`traceparent`)",
    rule: "must be a number from 0 to 1",
    parse: (text) => (/^(?:0|1(?:\.0+)?|0?\.\d+)$/.test(text) ? Number(text) : undefined),
  },
} as const satisfies Record<string, Setting<unknown>>;
