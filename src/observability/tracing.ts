import { type Context, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { parseTraceParent, setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import packageJson from "../../package.json" with { type: "json" };
import type { ResponseEvent } from "../http/call.ts";
import type { Log } from "./log.ts";
import { redact } from "./redact.ts";

/** Timeout for exporting a batch, including retries. */
const EXPORT_TIMEOUT_MS = 3_000;
/** Maximum number of queued spans; further spans are dropped. */
const MAX_QUEUED_SPANS = 8_192;
/** Minimum time between two log lines about spans that were not exported. */
const LOG_INTERVAL_MS = 60_000;

/**
 * Exports a span of each request to an OpenTelemetry collector, as a child of the caller's span (W3C Trace Context).
 * The span has the name of the operation and the attributes of HTTP servers in the semantic conventions. Requests never
 * wait for the collector, and spans contain no secrets.
 */
export class Tracing {
  readonly #log: Log["events"];
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  #silentUntilMs = 0;

  /**
   * Starts the export to `endpoint`, the base URL of a collector. `ratio` is the fraction of requests to sample, from 0 to
   * 1, unless the caller's trace context decides. `worker` is the number of this worker, if this process is one.
   */
  constructor(endpoint: string, ratio: number, worker: number | undefined, log: Log["events"]) {
    this.#log = log;
    this.#reportErrors();
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const defaults = resourceFromAttributes({
      "service.name": packageJson.name,
      "service.version": packageJson.version,
      "process.pid": process.pid,
      ...(worker === undefined ? {} : { "plantstore.worker": worker }),
    });
    this.#provider = new TracerProvider({
      // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the defaults.
      resource: defaults.merge(detectResources({ detectors: [envDetector] })),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: MAX_QUEUED_SPANS,
          scheduledDelayMillis: 1_000,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer(packageJson.name, packageJson.version);
  }

  /** Records a span for a request and returns its trace id, also when the trace is not sampled. */
  record({ call: { request, requestId }, operation, status, durationMs, error }: ResponseEvent): string {
    const endMs = Date.now();
    const span = this.#tracer.startSpan(
      operation,
      {
        kind: SpanKind.SERVER,
        startTime: endMs - durationMs,
        attributes: {
          "http.request.method": request.method,
          "http.response.status_code": status,
          "plantstore.request_id": redact(requestId),
          ...(error === undefined ? {} : { "error.type": error.code }),
        },
      },
      parentContext(request),
    );
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
    return span.spanContext().traceId;
  }

  /** Flushes pending spans, best effort, and shuts down. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(this.#onError);
  }

  /** Logs the library's errors and warnings, such as dropped spans, and discards its other messages. */
  #reportErrors(): void {
    const discard = () => {};
    setGlobalErrorHandler(this.#onError);
    diag.setLogger({ error: this.#onError, warn: this.#onError, info: discard, debug: discard, verbose: discard });
  }

  readonly #onError = (error: unknown): void => {
    if (performance.now() < this.#silentUntilMs) return;
    this.#silentUntilMs = performance.now() + LOG_INTERVAL_MS;
    this.#log.warn({ reason: String(error) }, "spans not exported");
  };
}

/** Returns the caller's span from `traceparent`. Callers control `tracestate`, so it is ignored. */
function parentContext({ headers }: Request): Context {
  const parent = parseTraceParent(headers.get("traceparent") ?? "");
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}
