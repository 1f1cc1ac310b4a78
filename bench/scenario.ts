/** A workload and its metrics. `bench/scenarios/index.ts` lists all scenarios. */
export interface Scenario {
  /** The value for `--scenario`. */
  readonly name: string;
  /** One line for `--help`. */
  readonly description: string;
  /** Whether `--quick` skips it unless `--scenario` names it. */
  readonly isSkippedWhenQuick?: boolean;
  run(settings: RunSettings): Promise<readonly Metric[]>;
}

/** Length and scope of a run. */
export interface RunSettings {
  /** Measured rounds, after one warm-up round. */
  readonly rounds: number;
  /** Duration of each server's load per round. */
  readonly seconds: number;
  readonly isQuick: boolean;
  readonly withPeers: boolean;
  /** Another checkout of Plant Store to measure as the baseline. */
  readonly against?: string | undefined;
}

/**
 * `product` is Plant Store, `baseline` another version of it, `limit` an upper bound, `peer` another server with a
 * comparable API.
 */
export type Role = "product" | "baseline" | "limit" | "peer";

/** One server's results for one metric. The keys are those of `docs/performance.json`. */
export interface Measurement {
  readonly server: string;
  readonly role: Role;
  /** One value per round, in the metric's unit; empty when `missing` is set. */
  readonly rounds: readonly number[];
  /** Unexpected responses and failed connections in all measured rounds. */
  readonly errors: number;
  /** Median over the rounds. */
  readonly p50Ms?: number;
  /** Median over the rounds. */
  readonly p99Ms?: number;
  /** CPU use of the server in cores. Below 0.9 on one core, something else was the bottleneck. */
  readonly busy?: number;
  /** Open loop: p99 of the delay with which the load generator itself sent requests. */
  readonly lateP99Ms?: number;
  /** Open loop: medians over the rounds. */
  readonly percentiles?: readonly Percentile[];
  /** Number of stored plants, where it varies. */
  readonly plants?: number;
  /** The reason why the server was not measured. */
  readonly missing?: string;
}

/** One table row of the report: the same quantity for several servers. The keys are those of `docs/performance.json`. */
export interface Metric {
  /** Label in the report. */
  readonly what: string;
  readonly unit: Unit;
  /** The product's comes first. */
  readonly measurements: readonly Measurement[];
  readonly targets: readonly Target[];
}

/** `/s` counts expected responses. */
export type Unit = "/s" | "plants/s" | "ms" | "MiB";

/** The share (0 to 1) of all responses that took at most `ms`. */
export interface Percentile {
  readonly share: number;
  readonly ms: number;
}

/**
 * A target for the product: a ratio to another server of the same run (`of`), or an absolute value. Targets are set
 * before the first measurement.
 */
export type Target =
  | { readonly atLeast: number; readonly of: string }
  | { readonly atLeast: number }
  | { readonly atMost: number };
