import type { PlantKey, Storage, StoredPlant } from "../storage/storage.ts";
import {
  CHUNK,
  compareOwners,
  countOf,
  type Databases,
  nameOwner,
  nameToken,
  type OnPlants,
  takeTurn,
} from "./databases.ts";

/** Chunks that are written at a time: together fewer plants than any engine lets wait. */
const CHUNKS_IN_FLIGHT = 3;
/** Tokens that are written at a time. */
const TOKENS_IN_FLIGHT = 100;
const REMEDY = "remove it there, or copy to an empty database";

/** What a database holds, in words; `undefined` when it holds nothing. */
export async function describeContents(storage: Storage): Promise<string | undefined> {
  const { length: plants } = await storage.selectStored(undefined, CHUNK);
  const { length: tokens } = await storage.selectTokens();
  if (plants === 0 && tokens === 0) return undefined;
  return `${plants === CHUNK ? "at least " : ""}${countOf(plants, "plant")} and ${countOf(tokens, "token")}`;
}

/**
 * Compares all that both databases hold and changes nothing: how many plants the source has, and how many of them the
 * target lacks.
 * @throws Error that names what the target has and the source has not, or has otherwise
 */
export async function compare(
  databases: Databases,
  onPlants: OnPlants,
): Promise<{ readonly plants: number; readonly missing: number }> {
  const { source, target } = databases;
  const digests = new Set((await source.selectTokens()).map(({ digest }) => digest));
  const extra = (await target.selectTokens()).find(({ digest }) => !digests.has(digest));
  if (extra !== undefined) throw new Error(`the target has ${nameToken(extra)}, which the source has not: ${REMEDY}`);
  const sum = { plants: 0, missing: 0 };
  for await (const { compared, missing } of differences(databases)) {
    sum.plants += compared;
    sum.missing += missing.length;
    onPlants(compared);
  }
  return sum;
}

/**
 * Inserts the plants that the target lacks, and changes none: it may be stopped anywhere and done again.
 * @throws Error that names a plant of the target which is not the source's
 */
export async function copyPlants(databases: Databases, onPlants: OnPlants): Promise<void> {
  await share(differences(databases), CHUNKS_IN_FLIGHT, async ({ missing }) => {
    await Promise.all(missing.map((plant) => insertPlant(databases.target, plant)));
    onPlants(missing.length);
  });
}

/**
 * Inserts the tokens that the target lacks. One that is there already may have been used or revoked in the source since.
 */
export async function copyTokens({ source, target, signal }: Databases): Promise<void> {
  const there = new Set((await target.selectTokens()).map(({ digest }) => digest));
  const uses = new Map<string, number>();
  await share((await source.selectTokens()).values(), TOKENS_IN_FLIGHT, async (token) => {
    signal.throwIfAborted();
    const { digest, revokedAt, lastUsedAt } = token;
    if (!there.has(digest)) return target.insertToken(token);
    if (revokedAt !== undefined) await target.revokeToken(digest, revokedAt);
    if (lastUsedAt !== undefined) uses.set(digest, lastUsedAt);
  });
  await target.noteTokenUses(uses);
}

/** Goes through both databases side by side: how many plants of the source were compared, and which are missing. */
async function* differences({ source, target, signal }: Databases) {
  let after: PlantKey | undefined;
  for (let isLast = false; !isLast; ) {
    await takeTurn(signal);
    const [ours, theirs] = await Promise.all([source.selectStored(after, CHUNK), target.selectStored(after, CHUNK)]);
    isLast = ours.length < CHUNK;
    yield { compared: ours.length, missing: findMissing(ours, theirs, isLast) };
    after = ours.at(-1);
  }
}

/**
 * The plants of the source's chunk that the target's chunk, from the same place on, lacks. What the target has beyond
 * the end of the source's chunk is left to the next one, unless this `isLast`.
 */
function findMissing(ours: readonly StoredPlant[], theirs: readonly StoredPlant[], isLast: boolean): StoredPlant[] {
  let met = 0;
  const missing = ours.filter((plant) => {
    const other = theirs[met];
    const order = other === undefined ? -1 : compareKeys(plant, other);
    if (other === undefined || order < 0) return true;
    if (order > 0) throw extra(other);
    if (!isSame(plant, other)) throw conflict(plant);
    met++;
    return false;
  });
  const beyond = theirs[met];
  if (isLast && beyond !== undefined) throw extra(beyond);
  return missing;
}

const compareKeys = (a: PlantKey, b: PlantKey): number =>
  compareOwners(a.owner, b.owner) || (a.id < b.id ? -1 : Number(a.id > b.id));

const isSame = (a: StoredPlant, b: StoredPlant): boolean =>
  a.name === b.name && a.tag === b.tag && a.idempotencyKey === b.idempotencyKey;

async function insertPlant(target: Storage, plant: StoredPlant): Promise<void> {
  const { owner, idempotencyKey, ...newPlant } = plant;
  if ((await target.insertPlant(owner, newPlant, idempotencyKey)) === "taken") throw conflict(plant);
}

/** Lets some workers share the items; when one fails, its failure comes out once all have stopped. */
async function share<Item>(
  items: AsyncGenerator<Item> | ArrayIterator<Item>,
  workers: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for await (const item of items) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: workers }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

const conflict = ({ owner, id }: PlantKey): Error =>
  new Error(`${nameOwner(owner)} has another plant ${id} in the target than in the source: ${REMEDY}`);

const extra = ({ owner, id }: PlantKey): Error =>
  new Error(`${nameOwner(owner)} has a plant ${id} in the target, which the source has not: ${REMEDY}`);
