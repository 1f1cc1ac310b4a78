import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  Registry,
} from "prom-client";
import packageJson from "../package.json" with { type: "json" };
import type { SendBudget } from "./http/send-budget.ts";
import type { HttpServer, ResponseEvent } from "./http/server.ts";
import type { Commit, Storage } from "./storage/storage.ts";

const DURATION = "plantstore_http_request_duration_seconds";
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** The figures of one worker at one moment, fit to be sent to its supervisor. */
export type Figures = readonly object[];

/** What `/metrics` shows of several workers: every series of each, told apart by the label `worker`. */
export const joinMetrics = (collect: () => Promise<readonly Figures[]>) => ({
  contentType: Registry.PROMETHEUS_CONTENT_TYPE,
  text: async (): Promise<string> => AggregatorRegistry.aggregate([...(await collect())]).metrics(),
});

/** What `/metrics` shows, named as Prometheus has it: base units, a prefix, a label for every dimension. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #durations = new Map<string, Durations>();
  readonly #backups = new Counter({
    name: "plantstore_backups_total",
    help: "Regular backups that were tried.",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });
  readonly #newestBackup = this.#gauge(
    "plantstore_newest_backup_timestamp_seconds",
    "When the newest regular backup was made; 0 when there is none.",
  );
  readonly #groupSizes = new Histogram({
    name: "plantstore_write_group_size",
    help: "Writes that went to the disk together.",
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024],
    registers: [this.#registry],
  });
  readonly #commits = new Histogram({
    name: "plantstore_commit_duration_seconds",
    help: "Time from when a group of writes left to when it was known to be on disk.",
    buckets: BUCKETS,
    registers: [this.#registry],
  });
  readonly #waitingWrites = this.#gauge("plantstore_writes_waiting", "Writes that wait for their group to leave.");
  readonly #bytes = this.#gauge(
    "plantstore_storage_bytes",
    "Bytes on disk: of the database, and of the log of a SQLite database.",
    "part",
  );
  readonly #connections = this.#gauge(
    "plantstore_database_connections",
    "Open connections to PostgreSQL: busy with a statement, or idle.",
    "state",
  );
  readonly #pendingRequests = this.#gauge("plantstore_http_requests_pending", "Requests that are being answered.");
  readonly #sendBuffer = this.#gauge(
    "plantstore_http_send_buffer_bytes",
    "Bytes reserved for large response bodies that clients have not read yet.",
  );
  #ask = async () => {};

  /** `worker` is this worker's number, if it is one. */
  constructor(worker?: number) {
    if (worker !== undefined) this.#registry.setDefaultLabels({ worker });
    // From 0 on, so that the first one is an increase.
    for (const outcome of ["made", "failed"]) this.#backups.inc({ outcome }, 0);
    collectDefaultMetrics({ register: this.#registry });
    this.#registry.registerMetric(this.#histogram() as unknown as Metric);
    const buildInfo = this.#gauge("plantstore_build_info", "Always 1.", "version", "bun");
    buildInfo.set({ version: packageJson.version, bun: Bun.version }, 1);
  }

  /** From now on asks these how they are doing, whenever somebody looks. */
  watch(
    server: Pick<HttpServer, "pendingRequests">,
    storage: Pick<Storage, "state">,
    budget: Pick<SendBudget, "bytes">,
  ): void {
    this.#ask = async () => {
      this.#sendBuffer.set(budget.bytes);
      this.#pendingRequests.set(server.pendingRequests);
      const { queuedWrites, bytes, connections } = await storage.state();
      this.#waitingWrites.set(queuedWrites);
      this.#bytes.reset();
      for (const [part, value] of Object.entries(bytes)) this.#bytes.set({ part }, value);
      for (const [state, count] of Object.entries(connections)) this.#connections.set({ state }, count);
    };
  }

  /** Counts a group of writes. */
  noteCommit({ writes, durationMs }: Commit): void {
    this.#groupSizes.observe(writes);
    this.#commits.observe(durationMs / 1_000);
  }

  /** Counts a regular backup that was made or failed; the time of the newest, also one that was found, is in epoch milliseconds. */
  noteBackup(outcome: "made" | "failed" | "found", timeMs?: number): void {
    if (outcome !== "found") this.#backups.inc({ outcome });
    if (timeMs !== undefined) this.#newestBackup.set(timeMs / 1_000);
  }

  /** Counts one answered request. */
  observe({ operation, status, durationMs }: ResponseEvent): void {
    const key = `${operation} ${status}`;
    let durations = this.#durations.get(key);
    if (durations === undefined) {
      durations = new Durations(operation, String(status));
      this.#durations.set(key, durations);
    }
    durations.observe(durationMs / 1_000);
  }

  readonly contentType = this.#registry.contentType;

  /** All figures in the text format of Prometheus. */
  async text(): Promise<string> {
    await this.#ask();
    return this.#registry.metrics();
  }

  /** All figures for {@link joinMetrics}, which finds each series once: "first" hands it on as it is. */
  async figures(): Promise<Figures> {
    await this.#ask();
    return (await this.#registry.getMetricsAsJSON()).map((metric) => ({ ...metric, aggregator: "first" }));
  }

  #gauge(name: string, help: string, ...labelNames: string[]): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] });
  }

  /** A histogram as the registry prints it. prom-client's own takes longer to count a request than to check its token. */
  #histogram() {
    return {
      name: DURATION,
      get: async () => ({
        name: DURATION,
        help: "Time from the first look at a request to the start of its answer.",
        type: "histogram",
        values: [...this.#durations.values()].flatMap((durations) => durations.values()),
      }),
    };
  }
}

/** The durations of the requests of one operation that got one status. */
class Durations {
  readonly #labels: { operation: string; status: string };
  readonly #counts = new Float64Array(BUCKETS.length);
  #count = 0;
  #sum = 0;

  constructor(operation: string, status: string) {
    this.#labels = { operation, status };
  }

  observe(seconds: number): void {
    this.#count++;
    this.#sum += seconds;
    const bucket = BUCKETS.findIndex((limit) => seconds <= limit);
    if (bucket >= 0) this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
  }

  values() {
    const [labels, bucket] = [this.#labels, `${DURATION}_bucket`];
    let total = 0;
    const buckets = BUCKETS.map((le, index) => {
      total += this.#counts[index] as number;
      return { metricName: bucket, labels: { ...labels, le: String(le) }, value: total };
    });
    return [
      ...buckets,
      { metricName: bucket, labels: { ...labels, le: "+Inf" }, value: this.#count },
      { metricName: `${DURATION}_sum`, labels, value: this.#sum },
      { metricName: `${DURATION}_count`, labels, value: this.#count },
    ];
  }
}
