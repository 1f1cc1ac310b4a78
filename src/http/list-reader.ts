import type { App } from "../app.ts";
import { DEFAULT_FIELDS, type ListQuery } from "../domain/list-query.ts";
import { type Owner, type Plant, type PlantField, type PlantId, stringifyPlants } from "../domain/plant.ts";
import { type ListScheduler, MAX_CHUNK_LENGTH } from "./list-scheduler.ts";

/** Maximum size of a chunk in UTF-8 bytes, unless a single plant is larger. */
export const MAX_CHUNK_BYTES = 64 * 1024;

/** Consecutive plants of a list. */
export interface Chunk {
  /** The plants as JSON objects, separated by commas; empty if no plant remained. */
  readonly json: string;
  /** Number of plants. */
  readonly count: number;
  /** The id to continue after; `undefined` when no plant remains. */
  readonly next: PlantId | undefined;
  /** Whether the list ends here: the limit is reached or no plant remains. */
  readonly isLast: boolean;
}

/**
 * Reads a list chunk by chunk. Holds no plants and no transaction between chunks. Every chunk but the first waits for the
 * scheduler.
 * @throws AppError `unavailable`
 */
export async function* readChunks(
  app: App,
  scheduler: ListScheduler,
  owner: Owner,
  { after, tag, limit, fields = DEFAULT_FIELDS }: ListQuery,
): AsyncGenerator<Chunk, void> {
  let next = after;
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  /** Number of plants in the last chunk that exceeded `MAX_CHUNK_BYTES` and was cut; doubled after each chunk that was not. */
  let maxLength = Number.POSITIVE_INFINITY;
  for (let chunks = 0; ; chunks++) {
    if (chunks > 0) await scheduler.next(chunks - 1);
    const chunkLength = limit === undefined ? scheduler.streamChunkLength : MAX_CHUNK_LENGTH;
    const chunk = await app.listChunk(owner, { after: next, tag }, Math.min(remaining, chunkLength, maxLength));
    const { json, count } = writeChunk(chunk.plants, fields);
    const isCut = count < chunk.plants.length;
    maxLength = isCut ? count : 2 * maxLength;
    remaining -= count;
    next = isCut ? chunk.plants[count - 1]?.id : chunk.next;
    const isLast = remaining === 0 || next === undefined;
    yield { json, count, next, isLast };
    if (isLast) return;
  }
}

/** Formats as many of the first plants as fit in a chunk, by repeatedly halving their number, but at least one. */
function writeChunk(plants: readonly Plant[], fields: readonly PlantField[]): Pick<Chunk, "json" | "count"> {
  let count = plants.length;
  let json = stringifyPlants(plants, fields);
  while (count > 1 && Buffer.byteLength(json) > MAX_CHUNK_BYTES) {
    count = Math.floor(count / 2);
    json = stringifyPlants(plants.slice(0, count), fields);
  }
  return { json, count };
}
