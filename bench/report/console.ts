import { type Comparison, compareWithBaseline, compareWithLimits, compareWithPeers, medianOf } from "../comparison.ts";
import type { Measurement, Metric, Unit } from "../scenario.ts";
import { formatRatio, formatTarget, formatValue } from "./format.ts";

/** Formats a metric as lines of text: one per server, with its comparison and target. */
export function formatMetric(metric: Metric): string {
  const width = Math.max(...metric.measurements.map(({ server }) => server.length));
  const comparisons = [...compareWithBaseline(metric), ...compareWithLimits(metric), ...compareWithPeers(metric)];
  const lines = metric.measurements.map((each) => {
    const comparison = comparisons.find(({ other }) => other === each);
    return `  ${each.server.padEnd(width)}  ${formatMeasurement(metric.unit, each)}${comparison ? `  ${formatComparison(comparison, metric.unit)}` : ""}`;
  });
  const absolute = comparisons.filter(({ other, target }) => other === undefined && target !== undefined);
  return [metric.what, ...lines, ...absolute.map((each) => `  ${formatComparison(each, metric.unit)}`)].join("\n");
}

function formatMeasurement(unit: Unit, measurement: Measurement): string {
  const { missing, rounds, errors, p50Ms, p99Ms, busy, lateP99Ms } = measurement;
  if (missing !== undefined) return `not measured: ${missing}`;
  const spread = `${formatValue(Math.min(...rounds), unit)} to ${formatValue(Math.max(...rounds), unit)}`;
  return [
    formatValue(medianOf(measurement), unit).padStart(12),
    `(${spread})`.padEnd(28),
    p50Ms === undefined ? "" : `p50 ${p50Ms} ms`,
    p99Ms === undefined ? "" : `p99 ${p99Ms} ms`,
    busy === undefined ? "" : `${Math.round(busy * 100)}% CPU`,
    lateP99Ms === undefined ? "" : `load generator ${lateP99Ms} ms late (p99)`,
    errors === 0 ? "" : `${errors} errors`,
  ]
    .filter(Boolean)
    .join("  ");
}

function formatComparison({ ratio, target, isMet }: Comparison, unit: Unit): string {
  const result =
    target === undefined
      ? ""
      : `target ${formatTarget(target, unit)}: ${isMet === undefined ? "unknown" : isMet ? "met" : "NOT MET"}`;
  return [ratio === undefined ? "" : `ratio ${formatRatio(ratio)}`, result].filter(Boolean).join(", ");
}
