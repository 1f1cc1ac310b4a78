import {
  type DiagLogger,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
} from "@opentelemetry/api";
import { setGlobalErrorHandler, W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import packageJson from "../package.json" with { type: "json" };
import type { ResponseEvent } from "./http/server.ts";
import { redact } from "./log.ts";

/** How long the collector may take for a batch, its repeats included. */
const EXPORT_TIMEOUT_MS = 3_000;
/** Batches that are on their way at a time. */
const MAX_EXPORTS = 2;
/** Spans that wait for the collector at most; beyond, they are dropped. */
const MAX_WAITING_SPANS = 8_192;

/** Where traces go, and which. */
export interface TracingOptions {
  /** Base URL of the collector; `/v1/traces` is added. */
  readonly endpoint: string;
  /** From 0 to 1: the part of the requests that is traced when no caller has decided. */
  readonly ratio: number;
  /** The number of this worker, if it is one. */
  readonly worker?: number | undefined;
  /** Hears why a batch could not be sent. */
  onFault(error: unknown): void;
}

/**
 * Tells an OpenTelemetry collector of each request, as a span that goes on with its caller's trace (W3C Trace Context).
 * Its name is that of the operation, its attributes those of HTTP servers in the semantic conventions. Nothing waits for
 * the collector, and no secret goes there.
 */
export class Tracing {
  readonly #onFault: (error: unknown) => void;
  readonly #provider: TracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();

  constructor({ endpoint, ratio, worker, onFault }: TracingOptions) {
    this.#onFault = onFault;
    setGlobalErrorHandler(onFault);
    diag.setLogger(logTo(onFault));
    const exporter = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, "")}/v1/traces`,
      timeoutMillis: EXPORT_TIMEOUT_MS,
      concurrencyLimit: MAX_EXPORTS,
    });
    const own = resourceFromAttributes({
      "service.name": packageJson.name,
      "service.version": packageJson.version,
      "process.pid": process.pid,
      ...(worker === undefined ? {} : { "plantstore.worker": worker }),
    });
    this.#provider = new TracerProvider({
      // What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say wins.
      resource: own.merge(detectResources({ detectors: [envDetector] })),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: MAX_WAITING_SPANS,
          scheduledDelayMillis: 1_000,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer(packageJson.name, packageJson.version);
  }

  /** Makes a span of an answer that has begun, and returns the id of its trace, whether that is sent or not. */
  note({ call: { request, requestId }, operation, status, durationMs, error }: ResponseEvent): string {
    const endMs = Date.now();
    const context = this.#propagator.extract(ROOT_CONTEXT, request.headers, HEADERS);
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
      context,
    );
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
    return span.spanContext().traceId;
  }

  /** Sends what waits, if the collector takes it. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(this.#onFault);
  }
}

/** Nothing but the parent: `tracestate` may be whatever its sender likes. */
const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => (name === "traceparent" ? (headers.get(name) ?? undefined) : undefined),
  keys: () => ["traceparent"],
};

/** Also spans that were dropped are a fault; what else the library tells is for those who work on it. */
function logTo(onFault: (error: unknown) => void): DiagLogger {
  const pass = (message: string) => onFault(new Error(message));
  const silence = () => {};
  return { error: pass, warn: pass, info: silence, debug: silence, verbose: silence };
}
