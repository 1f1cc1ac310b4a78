import type { Figure, Measurement, Target } from "./scenario.ts";
import { median } from "./statistics.ts";

/** The product beside another server, or beside a figure that it is to reach. */
export interface Comparison {
  /** Which server, and its figure. */
  readonly other?: Measurement;
  /** Of the other one. */
  readonly ratio?: number;
  readonly target?: Target;
  /** Unknown where there is no target, or where the other one is missing. */
  readonly isMet?: boolean;
}

/** The median of a measurement's rounds; `NaN` when it is missing. */
export const medianOf = (measurement: Measurement | undefined): number => median(measurement?.rounds ?? []);

/** The product beside each limit, and beside each figure that it is to reach. */
export function compareWithLimits(figure: Figure): Comparison[] {
  const limits = figure.measurements.filter(({ role }) => role === "limit");
  const comparisons = limits.map((limit) => compare(figure, limit));
  for (const target of figure.targets.filter((each) => !("of" in each))) {
    const free = comparisons.findIndex((comparison) => comparison.target === undefined);
    const [comparison] = free < 0 ? [{}] : comparisons.splice(free, 1);
    comparisons.splice(free < 0 ? comparisons.length : free, 0, { ...comparison, ...judgeAlone(figure, target) });
  }
  return comparisons.length === 0 ? [{}] : comparisons;
}

/** The product beside each peer: it is to be ahead of every one, of some by more. */
export const compareWithPeers = (figure: Figure): Comparison[] =>
  figure.measurements
    .filter(({ role }) => role === "peer")
    .map((peer) => compare(figure, peer, { atLeast: 1, of: peer.server }));

function compare(figure: Figure, other: Measurement, otherwise?: Target): Comparison {
  const target = figure.targets.find((each) => "of" in each && each.of === other.server) ?? otherwise;
  if (other.missing !== undefined) return { other, ...(target === undefined ? {} : { target }) };
  // How many times as long one takes as another is a riddle of its own: latencies are only set side by side.
  if (figure.unit === "ms") return { other };
  const ratio = medianOf(figure.measurements[0]) / medianOf(other);
  return target === undefined ? { other, ratio } : { other, ratio, target, isMet: reaches(ratio, target) };
}

function judgeAlone(figure: Figure, target: Target): Comparison {
  const value = medianOf(figure.measurements[0]);
  return Number.isNaN(value) ? { target } : { target, isMet: reaches(value, target) };
}

const reaches = (value: number, target: Target): boolean =>
  "atMost" in target ? value <= target.atMost : value >= target.atLeast;
