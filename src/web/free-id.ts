import type { PlantStoreClient } from "../client/index.ts";
import { ID_MAX, type PlantId } from "../domain/plant.ts";

/**
 * The id after the greatest one, at least 1, found with some dozen short requests; a random one when there is none
 * after it. `reached` is an id that is known not to be greater than the greatest: the nearer, the fewer requests.
 */
export async function findFreeId(client: PlantStoreClient, reached: PlantId, signal: AbortSignal): Promise<PlantId> {
  const isLast = async (after: PlantId) => (await client.listPage({ after, limit: 1, signal })).plants.length === 0;
  let low = reached > 0n ? reached : 0n;
  if (low < ID_MAX && (await isLast(low))) return low + 1n;
  // A plant is beyond `low`, and none beyond `high`: first far strides, then halves.
  let high = low + 1n;
  while (high < ID_MAX && !(await isLast(high))) [low, high] = [high, high + 2n * (high - low)];
  if (high > ID_MAX) high = ID_MAX;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await isLast(middle)) high = middle;
    else low = middle;
  }
  return high < ID_MAX ? high + 1n : randomId();
}

/** A positive id that hardly anybody has, and that a person can still read. */
export function randomId(): PlantId {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint16Array(2));
  return BigInt(high) * 65_536n + BigInt(low) + 1n;
}
