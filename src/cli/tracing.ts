import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Tracing } from "../tracing.ts";

/** What traces the requests of this process, of a worker if it has a number; `undefined` when no collector is set. */
export async function openTracing(
  { otlpEndpoint, traceRatio }: Config<"otlpEndpoint" | "traceRatio">,
  log: Log,
  worker: number | undefined,
): Promise<Tracing | undefined> {
  if (otlpEndpoint === "off") return undefined;
  // Whoever has no collector need not load what speaks to one.
  const { Tracing } = await import("../tracing.ts");
  const onFault = (err: unknown) => log.events.warn({ err }, "traces not sent");
  return new Tracing({ endpoint: otlpEndpoint, ratio: traceRatio, worker, onFault });
}
