import type { Target, Unit } from "../scenario.ts";

/** `47,081/s`, `2.84 ms`, `31.5 MiB` */
export function formatValue(value: number, unit: Unit): string {
  const digits = unit === "/s" || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return unit === "/s" ? `${number}/s` : `${number} ${unit}`;
}

/** `0.36`, `14.6` */
export const formatRatio = (ratio: number): string => ratio.toFixed(ratio < 10 ? 2 : 1);

/** `≥ 0.36 of nginx`, `≤ 5` */
export function formatTarget(target: Target): string {
  if ("atMost" in target) return `≤ ${target.atMost.toLocaleString("en")}`;
  return `≥ ${target.atLeast.toLocaleString("en")}${"of" in target ? ` of ${target.of}` : ""}`;
}
