import type { PlantStoreClient } from "../client/index.ts";
import { ID_MAX, type PlantId } from "../domain/plant.ts";

/**
 * Returns the greatest id plus 1 (at least 1), or a random id if the greatest is `ID_MAX`.
 * @param lowerBound an id known to be at most the greatest one; the closer, the fewer requests
 */
export async function findFreeId(client: PlantStoreClient, lowerBound: PlantId, signal: AbortSignal): Promise<PlantId> {
  const isEmptyAfter = async (after: PlantId) =>
    (await client.listPage({ after, limit: 1, signal })).plants.length === 0;
  let low = lowerBound > 0n ? lowerBound : 0n;
  if (low < ID_MAX && (await isEmptyAfter(low))) return low + 1n;
  // Exponential search until no id is greater than `high`, then binary search. Some id is always greater than `low`.
  let high = low + 1n;
  while (high < ID_MAX && !(await isEmptyAfter(high))) [low, high] = [high, high + 2n * (high - low)];
  if (high > ID_MAX) high = ID_MAX;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await isEmptyAfter(middle)) high = middle;
    else low = middle;
  }
  return high < ID_MAX ? high + 1n : randomId();
}

/** Returns a random id from 1 to 2^32: unlikely to be in use, and still readable. */
export function randomId(): PlantId {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint16Array(2));
  return BigInt(high) * 65_536n + BigInt(low) + 1n;
}
