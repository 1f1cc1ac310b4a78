import { isSamePlant } from "../domain/plant.ts";
import type { PlantKey, Storage, StoredPlant } from "../storage/storage.ts";
import {
  CHUNK_LENGTH,
  compareOwners,
  type Databases,
  formatCount,
  formatOwner,
  formatToken,
  type OnProgress,
  yieldToEventLoop,
} from "./databases.ts";

/** Chunks written concurrently; together they must fit into the write queue of every engine. */
const MAX_CHUNKS_IN_FLIGHT = 3;
/** Tokens written concurrently. */
const MAX_TOKENS_IN_FLIGHT = 100;
const REMEDY = "remove it from the target, or copy to an empty database";

/** Describes the contents of a database, such as `1 plant and 2 tokens`; `undefined` if it is empty. */
export async function describeContents(storage: Storage): Promise<string | undefined> {
  const { length: plants } = await storage.selectStored(undefined, CHUNK_LENGTH);
  const { length: tokens } = await storage.selectTokens();
  if (plants === 0 && tokens === 0) return undefined;
  return `${plants === CHUNK_LENGTH ? "at least " : ""}${formatCount(plants, "plant")} and ${formatCount(tokens, "token")}`;
}

/**
 * Compares both databases without changing them. Returns the number of plants in the source, and how many of those are
 * missing in the target.
 * @throws Error that names a token that exists only in the target, or a plant that exists only there or differs
 */
export async function compare(
  databases: Databases,
  onProgress: OnProgress,
): Promise<{ readonly plants: number; readonly missing: number }> {
  const { source, target } = databases;
  const digests = new Set((await source.selectTokens()).map(({ digest }) => digest));
  const extra = (await target.selectTokens()).find(({ digest }) => !digests.has(digest));
  if (extra !== undefined) throw new Error(`${formatToken(extra)} exists only in the target: ${REMEDY}`);
  const total = { plants: 0, missing: 0 };
  for await (const { compared, missing } of differences(databases)) {
    total.plants += compared;
    total.missing += missing.length;
    onProgress(compared);
  }
  return total;
}

/**
 * Inserts the plants that are missing in the target. Changes no existing plant, so it can be stopped and repeated.
 * @throws Error that names a plant that exists only in the target or differs there
 */
export async function copyPlants(databases: Databases, onProgress: OnProgress): Promise<void> {
  await forEachConcurrently(differences(databases), MAX_CHUNKS_IN_FLIGHT, async ({ missing }) => {
    await Promise.all(missing.map((plant) => insertPlant(databases.target, plant)));
    onProgress(missing.length);
  });
}

/** Inserts the tokens that are missing in the target, and updates last use and revocation of those that exist. */
export async function copyTokens({ source, target, signal }: Databases): Promise<void> {
  const existing = new Set((await target.selectTokens()).map(({ digest }) => digest));
  const uses = new Map<string, number>();
  await forEachConcurrently((await source.selectTokens()).values(), MAX_TOKENS_IN_FLIGHT, async (token) => {
    signal.throwIfAborted();
    const { digest, revokedAt, lastUsedAt } = token;
    if (!existing.has(digest)) return target.insertToken(token);
    if (revokedAt !== undefined) await target.revokeToken(digest, revokedAt);
    if (lastUsedAt !== undefined) uses.set(digest, lastUsedAt);
  });
  await target.noteTokenUses(uses);
}

/** Reads both databases in parallel. Yields, for each chunk, the number of plants compared and the missing ones. */
async function* differences({ source, target, signal }: Databases) {
  let after: PlantKey | undefined;
  for (let isLast = false; !isLast; ) {
    await yieldToEventLoop(signal);
    const [ours, theirs] = await Promise.all([
      source.selectStored(after, CHUNK_LENGTH),
      target.selectStored(after, CHUNK_LENGTH),
    ]);
    isLast = ours.length < CHUNK_LENGTH;
    yield { compared: ours.length, missing: findMissing(ours, theirs, isLast) };
    after = ours.at(-1);
  }
}

/**
 * Returns the plants of the source's chunk that the target's chunk, which starts at the same key, lacks. Plants of the
 * target after the end of the source's chunk are left to the next chunk, unless this one `isLast`.
 * @throws Error that names a plant that exists only in the target or differs there
 */
function findMissing(ours: readonly StoredPlant[], theirs: readonly StoredPlant[], isLast: boolean): StoredPlant[] {
  let index = 0;
  const missing = ours.filter((plant) => {
    const other = theirs[index];
    const order = other === undefined ? -1 : compareKeys(plant, other);
    if (other === undefined || order < 0) return true;
    if (order > 0) throw onlyInTarget(other);
    if (!isSame(plant, other)) throw conflict(plant);
    index++;
    return false;
  });
  const rest = theirs[index];
  if (isLast && rest !== undefined) throw onlyInTarget(rest);
  return missing;
}

const compareKeys = (a: PlantKey, b: PlantKey): number =>
  compareOwners(a.owner, b.owner) || (a.id < b.id ? -1 : Number(a.id > b.id));

const isSame = (a: StoredPlant, b: StoredPlant): boolean => isSamePlant(a, b) && a.idempotencyKey === b.idempotencyKey;

async function insertPlant(target: Storage, plant: StoredPlant): Promise<void> {
  const { owner, idempotencyKey, ...newPlant } = plant;
  if ((await target.insertPlant(owner, newPlant, idempotencyKey)) === "taken") throw conflict(plant);
}

/** Processes the items with concurrent workers. After all workers have ended, throws the first error. */
async function forEachConcurrently<Item>(
  items: AsyncGenerator<Item> | ArrayIterator<Item>,
  workers: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for await (const item of items) await work(item);
  };
  const results = await Promise.allSettled(Array.from({ length: workers }, worker));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

const conflict = ({ owner, id }: PlantKey): Error =>
  new Error(`plant ${id} of ${formatOwner(owner)} differs between source and target: ${REMEDY}`);

const onlyInTarget = ({ owner, id }: PlantKey): Error =>
  new Error(`plant ${id} of ${formatOwner(owner)} exists only in the target: ${REMEDY}`);
