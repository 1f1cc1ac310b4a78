import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import packageJson from "../package.json" with { type: "json" };
import type { Answer } from "./http/server.ts";

/** What `/metrics` shows, named as Prometheus has it: base units, a prefix, a label for every dimension. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #durations = new Histogram({
    name: "plantstore_http_request_duration_seconds",
    help: "Time from the first look at a request to the start of its answer.",
    labelNames: ["operation", "status"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [this.#registry],
  });

  /** `pendingRequests` tells how many requests are being answered. */
  constructor(pendingRequests: () => number) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    new Gauge({
      name: "plantstore_http_requests_pending",
      help: "Requests that are being answered.",
      registers,
      collect() {
        this.set(pendingRequests());
      },
    });
    new Gauge({ name: "plantstore_build_info", help: "Always 1.", labelNames: ["version", "bun"], registers }).set(
      { version: packageJson.version, bun: Bun.version },
      1,
    );
  }

  /** Counts one answered request. */
  observe({ operation, status, durationMs }: Answer): void {
    this.#durations.observe({ operation, status }, durationMs / 1_000);
  }

  readonly contentType = this.#registry.contentType;

  /** All figures in the text format of Prometheus. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }
}
