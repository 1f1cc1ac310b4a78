import { type Token, tokenId } from "../domain/token.ts";
import type { PlantKey, Storage, StoredPlant } from "../storage/storage.ts";

/** Source and target of a copy. When `signal` aborts, the operation rejects with its reason. */
export interface Databases {
  readonly source: Storage;
  readonly target: Storage;
  readonly signal: AbortSignal;
}

/** Progress callback: receives the number of plants processed since the last call. */
export type OnProgress = (count: number) => void;

/** Plants per read from a database. */
const CHUNK_LENGTH = 1_000;

const DESCRIPTIONS = {
  missing: "exists only in the source",
  extra: "exists only in the target",
  changed: "differs between source and target",
} as const;

/** A row that differs between the databases or that only one has. `row` is the source's, unless `kind` is `extra`. */
export interface Difference<Row = StoredPlant | Token> {
  readonly kind: keyof typeof DESCRIPTIONS;
  readonly row: Row;
}

/** Counts of the source, and the number of its plants that the target lacks. */
export interface Comparison {
  readonly plants: number;
  /** Owners with at least one plant. */
  readonly owners: number;
  readonly tokens: number;
  readonly missing: number;
}

/**
 * Compares both databases completely without changing them. Calls `onDifference` for each difference.
 * @throws any error that `onDifference` throws
 */
export async function compare(
  databases: Databases,
  onDifference: (difference: Difference) => void,
  onProgress: OnProgress,
): Promise<Comparison> {
  const { tokens, differences } = await compareTokens(databases);
  differences.forEach(onDifference);
  let [plants, owners, missing] = [0, 0, 0];
  let owner: string | undefined;
  for await (const chunk of comparePlants(databases)) {
    chunk.differences.forEach(onDifference);
    for (const plant of chunk.plants) {
      if (plant.owner !== owner) owners++;
      owner = plant.owner;
    }
    plants += chunk.plants.length;
    missing += chunk.differences.filter(({ kind }) => kind === "missing").length;
    onProgress(chunk.plants.length);
  }
  return { plants, owners, tokens: tokens.length, missing };
}

/** Consecutive plants of the source, and their differences from the target. */
interface ComparedChunk {
  readonly plants: readonly StoredPlant[];
  readonly differences: readonly Difference<StoredPlant>[];
}

/**
 * Compares the plants of both databases, ordered by owner and id. Yields to the event loop before each chunk, so that
 * progress is shown and stop signals are handled even when both engines are synchronous.
 */
export async function* comparePlants({ source, target, signal }: Databases): AsyncGenerator<ComparedChunk, void> {
  let after: PlantKey | undefined;
  for (let isLast = false; !isLast; ) {
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    const [plants, others] = await Promise.all([
      source.selectStoredPlants(after, CHUNK_LENGTH),
      target.selectStoredPlants(after, CHUNK_LENGTH),
    ]);
    isLast = plants.length < CHUNK_LENGTH;
    after = plants.at(-1);
    // The target's plants after the end of this chunk belong to the next one.
    const end = isLast ? undefined : after;
    const othersInChunk = end === undefined ? others : others.filter((other) => compareKeys(other, end) <= 0);
    yield { plants, differences: differencesOf(plants, othersInChunk, compareKeys) };
  }
}

/** Returns the tokens of the source, and their differences from the target. */
export async function compareTokens({ source, target }: Databases) {
  const [tokens, others] = await Promise.all([source.selectTokens(), target.selectTokens()]);
  return {
    tokens,
    differences: differencesOf(tokens.sort(compareDigests), others.sort(compareDigests), compareDigests),
  };
}

/** Formats a difference for a message: `plant 7 of owner "ann" exists only in the target`. */
export function formatDifference({ kind, row }: Difference): string {
  const name = "digest" in row ? `token ${tokenId(row)}` : `plant ${row.id}`;
  return `${name} of owner ${JSON.stringify(row.owner)} ${DESCRIPTIONS[kind]}`;
}

/** Returns the differences between two lists that are sorted by `compare`. */
function differencesOf<Row>(
  sourceRows: readonly Row[],
  targetRows: readonly Row[],
  compare: (a: Row, b: Row) => number,
): Difference<Row>[] {
  const differences: Difference<Row>[] = [];
  let index = 0;
  for (const row of sourceRows) {
    let other = targetRows[index];
    for (; other !== undefined && compare(other, row) < 0; other = targetRows[++index])
      differences.push({ kind: "extra", row: other });
    if (other === undefined || compare(other, row) > 0) {
      differences.push({ kind: "missing", row });
      continue;
    }
    if (!Bun.deepEquals(row, other, true)) differences.push({ kind: "changed", row });
    index++;
  }
  return [...differences, ...targetRows.slice(index).map((row) => ({ kind: "extra", row }) as const)];
}

/** Orders by owner, then by id. Owners are ordered by code point, as in the engines; `<` compares UTF-16 code units. */
function compareKeys(a: PlantKey, b: PlantKey): number {
  const order = a.owner === b.owner ? 0 : Buffer.compare(Buffer.from(a.owner), Buffer.from(b.owner));
  return order || (a.id < b.id ? -1 : Number(a.id > b.id));
}

const compareDigests = (a: Token, b: Token): number => (a.digest < b.digest ? -1 : Number(a.digest > b.digest));
