import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from "prom-client";
import packageJson from "../../package.json" with { type: "json" };
import type { ResponseEvent } from "../http/call.ts";
import type { SendBudget } from "../http/send-budget.ts";
import type { HttpServer } from "../http/server.ts";
import type { Commit, Storage } from "../storage/storage.ts";
import { DURATION_BUCKETS, RequestDurations } from "./request-durations.ts";

/** A snapshot of one worker's metrics, serializable for its supervisor. */
export type MetricsSnapshot = readonly object[];

/** Combines the metrics of the workers that replied. Each series has a `worker` label. */
export const aggregateMetrics = (collect: () => Promise<readonly (MetricsSnapshot | undefined)[]>) => ({
  contentType: Registry.PROMETHEUS_CONTENT_TYPE,
  async text(): Promise<string> {
    const snapshots = (await collect()).filter((snapshot) => snapshot !== undefined);
    return AggregatorRegistry.aggregate(snapshots).metrics();
  },
});

/** The metrics of one process, named by Prometheus conventions: a prefix, base units, a label per dimension. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #durations = new RequestDurations();
  readonly #backups = new Counter({
    name: "plantstore_backups_total",
    help: "Scheduled backups by outcome.",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #newestBackup = this.#gauge(
    "plantstore_newest_backup_timestamp_seconds",
    "Unix time of the newest scheduled backup; 0 before the first one.",
  );
  readonly #batchSizes = new Histogram({
    name: "plantstore_write_batch_size",
    help: "Writes committed together in one batch.",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    registers: [this.#registry],
  });
  readonly #commits = new Histogram({
    name: "plantstore_commit_duration_seconds",
    help: "Time from sending a batch of writes to the acknowledgement of its commit.",
    buckets: DURATION_BUCKETS,
    registers: [this.#registry],
  });
  readonly #queuedWrites = this.#gauge("plantstore_writes_queued", "Queued writes that are not in a batch yet.");
  readonly #bytes = this.#gauge(
    "plantstore_storage_bytes",
    "Bytes on disk by part: the database, or the WAL of a SQLite database.",
    "part",
  );
  readonly #connections = this.#gauge(
    "plantstore_database_connections",
    "Open connections to PostgreSQL by state: busy or idle.",
    "state",
  );
  readonly #pendingRequests = this.#gauge("plantstore_http_requests_pending", "Requests without a complete response.");
  readonly #sendBuffer = this.#gauge(
    "plantstore_http_send_buffer_bytes",
    "Bytes reserved for large response bodies that clients have not read yet.",
  );
  #updateGauges = async () => {};

  /** `worker` is the number of this worker, if this process is one. */
  constructor(worker?: number) {
    if (worker !== undefined) this.#registry.setDefaultLabels({ worker });
    // Starts at 0, so that `increase()` in PromQL includes the first backup.
    for (const outcome of ["made", "failed"]) this.#backups.inc({ outcome }, 0);
    collectDefaultMetrics({ register: this.#registry });
    this.#registry.registerMetric(this.#durations as unknown as Metric);
    const buildInfo = this.#gauge("plantstore_build_info", "Always 1.", "version", "bun");
    buildInfo.set({ version: packageJson.version, bun: Bun.version }, 1);
  }

  /** Sets the sources of the gauges, which are read at each collection. */
  setSources(
    server: Pick<HttpServer, "pendingRequests">,
    storage: Pick<Storage, "state">,
    budget: Pick<SendBudget, "bytes">,
  ): void {
    this.#updateGauges = async () => {
      this.#sendBuffer.set(budget.bytes);
      this.#pendingRequests.set(server.pendingRequests);
      const { queuedWrites, bytes, connections } = await storage.state();
      this.#queuedWrites.set(queuedWrites);
      this.#bytes.reset();
      for (const [part, value] of Object.entries(bytes)) this.#bytes.set({ part }, value);
      for (const [state, count] of Object.entries(connections)) this.#connections.set({ state }, count);
    };
  }

  /** Records a committed batch of writes. */
  recordCommit({ writes, durationMs }: Commit): void {
    this.#batchSizes.observe(writes);
    this.#commits.observe(durationMs / 1_000);
  }

  /** Records a scheduled backup. `timeMs` is when the newest one was made; `found` sets only that time. */
  recordBackup(outcome: "made" | "failed" | "found", timeMs?: number): void {
    if (outcome !== "found") this.#backups.inc({ outcome });
    if (timeMs !== undefined) this.#newestBackup.set(timeMs / 1_000);
  }

  /** Records the duration of a request. */
  recordResponse({ operation, status, durationMs }: ResponseEvent): void {
    this.#durations.observe(operation, status, durationMs / 1_000);
  }

  readonly contentType = this.#registry.contentType;

  /** Returns all metrics in the text format of Prometheus. */
  async text(): Promise<string> {
    await this.#updateGauges();
    return this.#registry.metrics();
  }

  /** Returns all metrics for {@link aggregateMetrics}. The aggregator "first" keeps each series unchanged. */
  async snapshot(): Promise<MetricsSnapshot> {
    await this.#updateGauges();
    return (await this.#registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: "first" }));
  }

  #gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }
}
