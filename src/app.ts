import { AppError } from "./domain/error.ts";
import type { PlantFilter } from "./domain/page.ts";
import type { NewPlant, Owner, PlantId } from "./domain/plant.ts";
import type { Storage } from "./storage/storage.ts";

/** Plants that one read of the database takes: half a millisecond of work, so that no list holds up the others. */
const CHUNK_LENGTH = 500;
/** What is left of that for each of many long lists: less would be more effort than plants. */
const MIN_CHUNK_LENGTH = 25;
/**
 * Chunks of one long list before it is the next one's turn. A garbage collection has to look at every list that went on
 * since the last one, and nobody is answered meanwhile: with one chunk of each list in rotation, the p99 of the others
 * beside 333 stalled readers was 3 ms, not 1 (measured 2026-11). Lists whose database is slower than a turn alternate.
 */
const CHUNKS_IN_A_ROW = 20;
/** A page is gathered in memory before it is answered, and ends early when it comes to so many characters. */
const MAX_PAGE_CHARACTERS = 4 * 1024 * 1024;
/** What a plant counts for besides its name and tag. */
const CHARACTERS_PER_PLANT = 64;

/** One page of a list: `next` is the id to go on after, absent when no plant remains. */
export interface Page {
  readonly plants: readonly NewPlant[];
  readonly next?: PlantId;
}

/** The rules for plants. Every method acts for one owner and sees that owner's plants only. */
export class App {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Keeps a new plant; resolves once it is durable. A repeat with the same idempotency key and plant succeeds again.
   * @throws AppError `duplicate_id`, `unavailable`
   */
  async createPlant(owner: Owner, plant: NewPlant, idempotencyKey: string | undefined): Promise<void> {
    const outcome = await this.#storage.insertPlant(owner, plant, idempotencyKey);
    if (outcome === "taken") {
      throw new AppError(
        "duplicate_id",
        `id ${plant.id} is already in use: choose another, or delete that plant first`,
      );
    }
  }

  /**
   * Removes a plant; resolves once that is durable.
   * @throws AppError `plant_not_found`, `unavailable`
   */
  async deletePlant(owner: Owner, id: PlantId): Promise<void> {
    const isRemoved = await this.#storage.removePlant(owner, id);
    if (!isRemoved) throw new AppError("plant_not_found", `there is no plant with the id ${id}`);
  }

  /** While this number is the same, so is every list of the owner's plants; `undefined` when that cannot be known. */
  revision(owner: Owner): number | undefined {
    return this.#storage.revision(owner);
  }

  /**
   * At most `limit` plants in ascending order of id, and where to go on; a chunk of them when there is no limit.
   * @throws AppError `unavailable`
   */
  async listPage(owner: Owner, filter: PlantFilter, limit = CHUNK_LENGTH): Promise<Page> {
    const plants: NewPlant[] = [];
    let after = filter.after;
    let characters = 0;
    for (let chunks = 0; ; chunks++) {
      const wanted = Math.min(limit - plants.length, CHUNK_LENGTH);
      const chunk = await this.#storage.selectPlants(owner, { ...filter, after, limit: wanted + 1 });
      const isLast = chunk.length <= wanted;
      if (!isLast) chunk.pop();
      plants.push(...chunk);
      if (isLast) return { plants };
      after = plants.at(-1)?.id as PlantId;
      characters += chunk.reduce((sum, { name, tag = "" }) => sum + name.length + tag.length + CHARACTERS_PER_PLANT, 0);
      if (plants.length === limit || characters > MAX_PAGE_CHARACTERS) return { plants, next: after };
      await nextTurn(chunks);
    }
  }

  /**
   * All plants in ascending order of id, read page by page as they are taken, and none kept once it is taken. A plant
   * that exists for the whole of the listing appears exactly once.
   * @throws AppError `unavailable`
   */
  async *listAll(owner: Owner, filter: PlantFilter): AsyncGenerator<Page, void> {
    let { after } = filter;
    let chunks = 0;
    do {
      await nextTurn(chunks++);
      const page = await this.listPage(owner, { ...filter, after }, chunkLength());
      after = page.next;
      yield page;
    } while (after !== undefined);
  }
}

/** Long lists that wait to go on, in the order of their turns. */
const waiting: (() => void)[] = [];

/**
 * Resolves when it is the turn of a long list that has had so many chunks: one of them is let go in each turn of the
 * event loop, so that all other requests wait for one chunk at most, however many long lists there are.
 */
function nextTurn(chunks: number): Promise<void> {
  return new Promise((resolve) => {
    const isInARow = chunks % CHUNKS_IN_A_ROW !== 0;
    const length = isInARow ? waiting.unshift(resolve) : waiting.push(resolve);
    if (length === 1) setImmediate(letOneGoOn);
  });
}

/**
 * Plants that the next read of a long list takes. Many lists share what one would have, because what they are sent
 * stays in memory until their readers take it.
 */
const chunkLength = (): number => Math.max(MIN_CHUNK_LENGTH, Math.floor(CHUNK_LENGTH / (1 + waiting.length)));

function letOneGoOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(letOneGoOn);
}
