import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import type { Tracing } from "../observability/tracing.ts";

/** Minimum time between two log lines about traces that could not be sent. */
const LOG_INTERVAL_MS = 60_000;

/** Starts tracing for this process, or returns `undefined` when no collector is configured. */
export async function openTracing(
  { otlpEndpoint, traceRatio }: Config<"otlpEndpoint" | "traceRatio">,
  log: Log,
  worker: number | undefined,
): Promise<Tracing | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  // Loads OpenTelemetry only when it is needed.
  const { Tracing } = await import("../observability/tracing.ts");
  let silentUntilMs = 0;
  const onError = (error: unknown) => {
    if (performance.now() < silentUntilMs) return;
    silentUntilMs = performance.now() + LOG_INTERVAL_MS;
    log.events.warn({ reason: String(error) }, "traces not sent");
  };
  return new Tracing({ endpoint: otlpEndpoint, ratio: traceRatio, worker, onError });
}
