/**
 * Returns a clock of epoch milliseconds that never goes back, so that setting the system clock back does not revive an
 * expired token.
 */
export function nonDecreasing(readClock: () => number): () => number {
  let latestMs = 0;
  return () => {
    latestMs = Math.max(latestMs, readClock());
    return latestMs;
  };
}
