import { type Comparison, compareWithPeers, medianOf } from "../comparison.ts";
import type { Measurement, Metric } from "../scenario.ts";
import { formatMeasurement, formatRatio, formatValue } from "./format.ts";
import type { RunRecord } from "./record.ts";
import { table } from "./table.ts";

/** Limit for reasons that quote a response. */
const MAX_REASON_LENGTH = 120;

/** Formats the comparison with the peers and their durability as Markdown; empty when no peer was measured. */
export function formatPeers(metrics: readonly Metric[], peers: RunRecord["peers"]): string {
  const compared = metrics.filter(({ measurements }) => measurements.some(({ role }) => role === "peer"));
  if (compared.length === 0) return "";
  const names = peers.map(({ name }) => name);
  const rates = compared.map((metric) => [
    metric.what,
    formatMeasurement(metric.measurements[0] as Measurement, metric.unit),
    ...names.map((name) => formatPeer(metric, name)),
  ]);
  return [
    table(["metric", "Plant Store", ...names], rates),
    "× is Plant Store's rate divided by the peer's. The target is 1 unless another one is given; missed targets are bold.",
    formatDurability(compared, peers),
  ].join("\n\n");
}

/** Formats a peer's rate: `998/s (7.07 ×, target 5)`; empty when it was not measured. */
function formatPeer(metric: Metric, name: string): string {
  const comparison = compareWithPeers(metric).find(({ other }) => other?.server === name);
  if (comparison?.ratio === undefined) return "";
  const { other, ratio, isMet } = comparison;
  const errors = other?.errors ? [`${other.errors.toLocaleString("en")} errors`] : [];
  const details = [`${formatRatio(ratio)} ×`, ...formatPeerTarget(comparison), ...errors].join(", ");
  return `${formatValue(medianOf(other), metric.unit)} (${isMet ? details : `**${details}**`})`;
}

const formatPeerTarget = ({ target }: Comparison): string[] =>
  target !== undefined && "of" in target && target.atLeast > 1 ? [`target ${target.atLeast}`] : [];

function formatDurability(metrics: readonly Metric[], peers: RunRecord["peers"]): string {
  const all = metrics.flatMap(({ measurements }) => measurements);
  const versionOf = (name: string, version: string) => {
    const missing = all.find((each) => each.server === name && each.missing !== undefined)?.missing;
    return missing === undefined ? version : `not measured: ${missing.slice(0, MAX_REASON_LENGTH)}`;
  };
  return table(
    ["server", "version", "durability of an acknowledged create"],
    [
      ["Plant Store", "", "on disk: SQLite in WAL mode, synchronous=FULL, one commit for all queued creates"],
      ...peers.map(({ name, version, durability }) => [name, versionOf(name, version), durability]),
    ],
  );
}
