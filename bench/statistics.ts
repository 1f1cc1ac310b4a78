/** The middle of some values, or between the two in the middle; `NaN` when there are none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** The value that this share (0 to 1) of ascending values does not exceed; `NaN` when there are none. */
export function percentile(ascending: ArrayLike<number>, share: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)] ?? Number.NaN;
}
