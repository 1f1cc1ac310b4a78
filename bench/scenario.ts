/** One thing that is measured, and all that it measures: `bench/scenarios/index.ts` lists them. */
export interface Scenario {
  /** What `--scenario` calls it. */
  readonly name: string;
  /** One line for `--help`. */
  readonly about: string;
  /** Whether `--quick` goes without it, unless it is named. */
  readonly isLeftOutWhenQuick?: boolean;
  run(depth: Depth): Promise<readonly Figure[]>;
}

/** How thoroughly to measure. */
export interface Depth {
  /** Rounds that count; one more comes first and warms up. */
  readonly rounds: number;
  /** Of each server in each round. */
  readonly seconds: number;
  readonly isQuick: boolean;
  readonly withPeers: boolean;
}

/** What a server is to the comparison: the product, the most that is possible, or another way to the same end. */
export type Role = "product" | "limit" | "peer";

/** What one server did in one scenario. */
export interface Measurement {
  readonly server: string;
  readonly role: Role;
  /** One value a round, in the unit of the figure; empty when it could not be measured. */
  readonly rounds: readonly number[];
  /** Answers that were not the expected ones, and connections that failed, in all rounds that count. */
  readonly errors: number;
  /** Medians over the rounds. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** Of one core, how much the server took: below 0.9 on one core something else was the limit. */
  readonly busy?: number;
  /** Of an open loop, by which 99% of the requests left late through no fault of the server. */
  readonly lateP99Ms?: number;
  /** Of an open loop: medians over the rounds. */
  readonly percentiles?: readonly Percentile[];
  /** Where it varies: plants in the store. */
  readonly plants?: number;
  /** Why it could not be measured. */
  readonly missing?: string;
}

/** One comparison: a row of the report. */
export interface Figure {
  readonly what: string;
  readonly unit: Unit;
  /** The product's comes first. */
  readonly measurements: readonly Measurement[];
  readonly targets: readonly Target[];
}

/** `/s` counts answers. */
export type Unit = "/s" | "plants/s" | "ms" | "MiB";

/** So many of all answers, 0 to 1, came within this time. */
export interface Percentile {
  readonly share: number;
  readonly ms: number;
}

/**
 * What the product is to reach: a share of another server in the same run (`of`), or a figure of its own. It was
 * written down before it was measured.
 */
export type Target =
  | { readonly atLeast: number; readonly of: string }
  | { readonly atLeast: number }
  | { readonly atMost: number };
