import { type Comparison, compareWithLimits, compareWithPeers, medianOf } from "../judge.ts";
import type { Figure, Measurement, Unit } from "../scenario.ts";
import { formatRatio, formatTarget, formatValue } from "./format.ts";

/** One figure as lines of text: every server, and whether the targets are met. */
export function describeFigure(figure: Figure): string {
  const width = Math.max(...figure.measurements.map(({ server }) => server.length));
  const comparisons = [...compareWithLimits(figure), ...compareWithPeers(figure)];
  const lines = figure.measurements.map((each) => {
    const comparison = comparisons.find(({ other }) => other === each);
    return `  ${each.server.padEnd(width)}  ${describe(figure, each)}${comparison ? `  ${judge(comparison, figure.unit)}` : ""}`;
  });
  const alone = comparisons.filter(({ other, target }) => other === undefined && target !== undefined);
  return [figure.what, ...lines, ...alone.map((each) => `  ${judge(each, figure.unit)}`)].join("\n");
}

function describe(figure: Figure, measurement: Measurement): string {
  const { missing, rounds, errors, p50Ms, p99Ms, busy, lateP99Ms } = measurement;
  if (missing !== undefined) return `missing: ${missing}`;
  const spread = `${formatValue(Math.min(...rounds), figure.unit)} to ${formatValue(Math.max(...rounds), figure.unit)}`;
  return [
    formatValue(medianOf(measurement), figure.unit).padStart(12),
    `(${spread})`.padEnd(28),
    p50Ms === undefined ? "" : `p50 ${p50Ms} ms`,
    p99Ms === undefined ? "" : `p99 ${p99Ms} ms`,
    busy === undefined ? "" : `${Math.round(busy * 100)}% of a core`,
    lateP99Ms === undefined ? "" : `the load ${lateP99Ms} ms late (p99)`,
    errors === 0 ? "" : `${errors} errors`,
  ]
    .filter(Boolean)
    .join("  ");
}

function judge({ ratio, target, isMet }: Comparison, unit: Unit): string {
  const wanted =
    target === undefined
      ? ""
      : `target ${formatTarget(target, unit)}: ${isMet === undefined ? "unknown" : isMet ? "met" : "NOT MET"}`;
  return [ratio === undefined ? "" : `ratio ${formatRatio(ratio)}`, wanted].filter(Boolean).join(", ");
}
