import { medianOf } from "../comparison.ts";
import type { Measurement, Target, Unit } from "../scenario.ts";

/** Formats a value: `47,081/s`, `2.84 ms`, `31.5 MiB`. */
export function formatValue(value: number, unit: Unit): string {
  const digits = unit.endsWith("/s") || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return withUnit(value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }), unit);
}

/** A limit with less CPU use than this was bound by the load generator: its rate is a lower bound. */
const MIN_CPU_OF_LIMIT = 0.9;

/** Formats a measurement: `47,081/s ± 2%`, with the number of errors if there are any, or the reason why it is missing. */
export function formatMeasurement(measurement: Measurement, unit: Unit): string {
  const { role, rounds, errors, busy = 1, missing } = measurement;
  if (missing !== undefined) return `not measured: ${missing}`;
  const middle = medianOf(measurement);
  const spread = Math.round(((Math.max(...rounds) - Math.min(...rounds)) / 2 / middle) * 100);
  return [
    `${formatValue(middle, unit)}${rounds.length > 1 ? ` ± ${spread}%` : ""}`,
    ...(role === "limit" && busy < MIN_CPU_OF_LIMIT ? [`${Math.round(busy * 100)}% CPU`] : []),
    ...(errors === 0 ? [] : [`${errors.toLocaleString("en")} errors`]),
  ].join(", ");
}

/** Formats a ratio: `0.36`, `14.6`, `1,235`. */
export function formatRatio(ratio: number): string {
  const digits = ratio >= 100 ? 0 : ratio >= 10 ? 1 : 2;
  return ratio.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Formats a target: `≥ 0.36 of nginx`, `≤ 5 ms`. */
export function formatTarget(target: Target, unit: Unit): string {
  if ("of" in target) return `≥ ${target.atLeast} of ${target.of}`;
  const bound = "atMost" in target ? target.atMost : target.atLeast;
  return `${"atMost" in target ? "≤" : "≥"} ${withUnit(bound.toLocaleString("en"), unit)}`;
}

const withUnit = (number: string, unit: Unit): string => (unit === "/s" ? `${number}/s` : `${number} ${unit}`);
