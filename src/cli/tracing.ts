import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Tracing } from "../tracing.ts";

/** After a line for traces that were not sent there is none for so long: a collector that is gone is told of once. */
const SILENT_MS = 60_000;

/** What traces the requests of this process, of a worker if it has a number; `undefined` when no collector is set. */
export async function openTracing(
  { otlpEndpoint, traceRatio }: Config<"otlpEndpoint" | "traceRatio">,
  log: Log,
  worker: number | undefined,
): Promise<Tracing | undefined> {
  if (otlpEndpoint === "off") return undefined;
  // Whoever has no collector need not load what speaks to one.
  const { Tracing } = await import("../tracing.ts");
  let silentUntilMs = 0;
  const onError = (error: unknown) => {
    if (performance.now() < silentUntilMs) return;
    silentUntilMs = performance.now() + SILENT_MS;
    log.events.warn({ reason: String(error) }, "traces not sent");
  };
  return new Tracing({ endpoint: otlpEndpoint, ratio: traceRatio, worker, onError });
}
