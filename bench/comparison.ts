import type { Measurement, Metric, Target } from "./scenario.ts";
import { median } from "./statistics.ts";

/** The product compared with another server or with an absolute target. */
export interface Comparison {
  /** The other server's measurement. */
  readonly other?: Measurement;
  /** The product's median divided by the other server's. */
  readonly ratio?: number;
  readonly target?: Target;
  /** Absent without a target, and when a measurement is missing. */
  readonly isMet?: boolean;
}

/** Returns the median of a measurement's rounds; `NaN` when it is missing. */
export const medianOf = (measurement: Measurement | undefined): number => median(measurement?.rounds ?? []);

/** Compares the product with each limit and each absolute target. Each comparison is one table row; there is at least one. */
export function compareWithLimits(metric: Metric): Comparison[] {
  const limits = metric.measurements.filter(({ role }) => role === "limit");
  const comparisons = limits.map((limit) => compare(metric, limit));
  for (const target of metric.targets.filter((each) => !("of" in each))) {
    // Fills the row of a limit without a target before it adds a row.
    const index = comparisons.findIndex((comparison) => comparison.target === undefined);
    const [comparison] = index < 0 ? [{}] : comparisons.splice(index, 1);
    const row = { ...comparison, ...compareWithAbsolute(metric, target) };
    comparisons.splice(index < 0 ? comparisons.length : index, 0, row);
  }
  return comparisons.length === 0 ? [{}] : comparisons;
}

/** Compares the product with the baseline, if any. */
export const compareWithBaseline = (metric: Metric): Comparison[] =>
  metric.measurements.filter(({ role }) => role === "baseline").map((baseline) => compare(metric, baseline));

/** Compares the product with each peer. The default target is to be at least as fast. */
export const compareWithPeers = (metric: Metric): Comparison[] =>
  metric.measurements
    .filter(({ role }) => role === "peer")
    .map((peer) => compare(metric, peer, { atLeast: 1, of: peer.server }));

function compare(metric: Metric, other: Measurement, defaultTarget?: Target): Comparison {
  const target = metric.targets.find((each) => "of" in each && each.of === other.server) ?? defaultTarget;
  if (other.missing !== undefined) return { other, ...(target === undefined ? {} : { target }) };
  // Latencies are shown side by side, without a ratio.
  if (metric.unit === "ms") return { other };
  const ratio = medianOf(metric.measurements[0]) / medianOf(other);
  return target === undefined ? { other, ratio } : { other, ratio, target, isMet: meets(ratio, target) };
}

function compareWithAbsolute(metric: Metric, target: Target): Comparison {
  const value = medianOf(metric.measurements[0]);
  return Number.isNaN(value) ? { target } : { target, isMet: meets(value, target) };
}

const meets = (value: number, target: Target): boolean =>
  "atMost" in target ? value <= target.atMost : value >= target.atLeast;
