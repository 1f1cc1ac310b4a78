import type { Storage, StoredPlant } from "../storage/storage.ts";
import {
  comparePlants,
  compareTokens,
  type Databases,
  type Difference,
  formatDifference,
  type OnProgress,
} from "./compare.ts";

/** Maximum writes in flight. Few enough to meet the query timeout on a slow disk when each needs its own commit. */
const MAX_IN_FLIGHT = 256;

/**
 * Rejects a difference that a copy cannot resolve.
 * @throws Error when only the target has the row, or a plant differs
 */
export function requireResolvable(difference: Difference): void {
  const { kind, row } = difference;
  if (kind === "missing" || (kind === "changed" && "digest" in row)) return;
  throw new Error(`${formatDifference(difference)}: remove it from the target, or copy to an empty database`);
}

/**
 * Rejects any difference that remains after a copy.
 * @throws Error always, with the remedy
 */
export function rejectDifference(difference: Difference): void {
  const remedy = "make sure that nothing writes to either database";
  throw new Error(`verification failed: ${formatDifference(difference)}; ${remedy}`);
}

/**
 * Inserts the plants that the target lacks. Changes no existing plant, so it can be stopped and repeated.
 * @throws Error that names a plant that exists only in the target or differs there
 */
export async function copyPlants(databases: Databases, onProgress: OnProgress): Promise<void> {
  for await (const { differences } of comparePlants(databases)) {
    differences.forEach(requireResolvable);
    await writeInSlices(differences, ({ row }) => insertPlant(databases.target, row));
    onProgress(differences.length);
  }
}

/** Inserts the tokens that the target lacks, and updates the last use and revocation of the others. */
export async function copyTokens(databases: Databases): Promise<void> {
  const { target, signal } = databases;
  const { differences } = await compareTokens(databases);
  const lastUses = new Map<string, number>();
  await writeInSlices(differences, async ({ kind, row }) => {
    signal.throwIfAborted();
    const { digest, revokedAt, lastUsedAt } = row;
    if (kind === "missing") return target.insertToken(row);
    if (revokedAt !== undefined) await target.revokeToken(digest, revokedAt);
    if (lastUsedAt !== undefined) lastUses.set(digest, lastUsedAt);
  });
  await target.recordLastUses(lastUses);
}

async function insertPlant(target: Storage, row: StoredPlant): Promise<void> {
  const { owner, idempotencyKey, ...plant } = row;
  if ((await target.insertPlant(owner, plant, idempotencyKey)) === "taken") requireResolvable({ kind: "changed", row });
}

/** Writes items in slices of at most {@link MAX_IN_FLIGHT}, one slice after another. */
async function writeInSlices<Item>(items: readonly Item[], write: (item: Item) => Promise<void>): Promise<void> {
  for (let start = 0; start < items.length; start += MAX_IN_FLIGHT) {
    await Promise.all(items.slice(start, start + MAX_IN_FLIGHT).map(write));
  }
}
