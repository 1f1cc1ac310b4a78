import { type Comparison, compareWithPeers, medianOf } from "../judge.ts";
import type { Figure, Measurement } from "../scenario.ts";
import { formatMeasurement, formatRatio, formatValue } from "./format.ts";
import type { RunRecord } from "./record.ts";
import { table } from "./table.ts";

/** A reason may quote an answer: no more of it than this. */
const MAX_REASON_LENGTH = 120;

/** The product beside its peers in Markdown, and what each makes durable; empty when they were left out. */
export function describePeers(figures: readonly Figure[], peers: RunRecord["peers"]): string {
  const compared = figures.filter(({ measurements }) => measurements.some(({ role }) => role === "peer"));
  if (compared.length === 0) return "";
  const names = peers.map(({ name }) => name);
  const rates = compared.map((figure) => [
    figure.what,
    formatMeasurement(figure.measurements[0] as Measurement, figure.unit),
    ...names.map((name) => describe(figure, name)),
  ]);
  return [
    table(["what", "Plant Store", ...names], rates),
    `× is how many times as fast Plant Store is: more than 1, unless another target is given; bold where that is missed.`,
    describeDurability(compared, peers),
  ].join("\n\n");
}

/** `998/s (7.07 ×, target 5)`; empty where the peer was not measured. */
function describe(figure: Figure, name: string): string {
  const comparison = compareWithPeers(figure).find(({ other }) => other?.server === name);
  if (comparison?.ratio === undefined) return "";
  const { other, ratio, isMet } = comparison;
  const errors = other?.errors ? [`${other.errors.toLocaleString("en")} errors`] : [];
  const details = [`${formatRatio(ratio)} ×`, ...aim(comparison), ...errors].join(", ");
  return `${formatValue(medianOf(other), figure.unit)} (${isMet ? details : `**${details}**`})`;
}

const aim = ({ target }: Comparison): string[] =>
  target !== undefined && "of" in target && target.atLeast > 1 ? [`target ${target.atLeast}`] : [];

function describeDurability(figures: readonly Figure[], peers: RunRecord["peers"]): string {
  const all = figures.flatMap(({ measurements }) => measurements);
  const versionOf = (name: string, version: string) => {
    const missing = all.find((each) => each.server === name && each.missing !== undefined)?.missing;
    return missing === undefined ? version : `missing: ${missing.slice(0, MAX_REASON_LENGTH)}`;
  };
  return table(
    ["server", "version", "when a create was answered, it is"],
    [
      ["Plant Store", "", "on disk: SQLite in WAL mode, synchronous=FULL, one commit for all creates that wait"],
      ...peers.map(({ name, version, durability }) => [name, versionOf(name, version), durability]),
    ],
  );
}
