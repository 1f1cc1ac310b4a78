import { AppError } from "./domain/error.ts";
import type { PlantFilter } from "./domain/list-query.ts";
import type { Owner, Plant, PlantId } from "./domain/plant.ts";
import type { Storage } from "./storage/storage.ts";

/**
 * Maximum UTF-16 units of the names and tags of a chunk. 500 plants of the largest size are 1.3 MB; reading them for a few
 * hundred requests would block the event loop for seconds.
 */
const MAX_CHUNK_CHARACTERS = 32 * 1024;

/** Consecutive plants of a list. `next` is the cursor of the next chunk; absent when no plant remains. */
export interface PlantChunk {
  readonly plants: readonly Plant[];
  readonly next?: PlantId;
}

/** The use cases for plants. Every method acts for one owner and accesses only that owner's plants. */
export class App {
  readonly #storage: Storage;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * Creates a plant and resolves when it is durable. A retry with the same idempotency key and plant succeeds again.
   * @throws AppError `duplicate_id`, `unavailable`
   */
  async createPlant(owner: Owner, plant: Plant, idempotencyKey: string | undefined): Promise<void> {
    const outcome = await this.#storage.insertPlant(owner, plant, idempotencyKey);
    if (outcome === "taken") {
      throw new AppError(
        "duplicate_id",
        `id ${plant.id} is already in use: use another id, or delete the existing plant`,
      );
    }
  }

  /**
   * Deletes a plant and resolves when the deletion is durable.
   * @throws AppError `plant_not_found`, `unavailable`
   */
  async deletePlant(owner: Owner, id: PlantId): Promise<void> {
    const isDeleted = await this.#storage.deletePlant(owner, id);
    if (!isDeleted) throw new AppError("plant_not_found", `no plant has the id ${id}`);
  }

  /** Returns the version of the owner's plants for cache validation, or `undefined` (see {@link Storage.version}). */
  version(owner: Owner): number | undefined {
    return this.#storage.version(owner);
  }

  /**
   * Reads one chunk of a list, at most `limit` plants in ascending order of id, with one database query.
   * @throws AppError `unavailable`
   */
  async listChunk(owner: Owner, filter: PlantFilter, limit: number): Promise<PlantChunk> {
    const plants = await this.#storage.selectPlants(owner, {
      ...filter,
      limit: limit + 1,
      maxCharacters: MAX_CHUNK_CHARACTERS,
    });
    const isComplete = plants.length <= limit && (plants.length <= 1 || charactersOf(plants) <= MAX_CHUNK_CHARACTERS);
    if (isComplete) return { plants };
    plants.pop();
    return { plants, next: plants.at(-1)?.id as PlantId };
  }
}

const charactersOf = (plants: readonly Plant[]): number =>
  plants.reduce((sum, { name, tag = "" }) => sum + name.length + tag.length, 0);
