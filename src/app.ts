import { AppError } from "./domain/error.ts";
import type { PlantFilter } from "./domain/page.ts";
import type { NewPlant, Owner, PlantId } from "./domain/plant.ts";
import type { Storage } from "./storage/storage.ts";

/** Consecutive plants of a list. `next` is the id to continue after; absent when no plant remains. */
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

  /** See {@link Storage.version}: while it stays the same, every list of the owner's plants can be served from a cache. */
  version(owner: Owner): number | undefined {
    return this.#storage.version(owner);
  }

  /**
   * Reads at most `limit` plants, in ascending order of id, in one read of the database.
   * @throws AppError `unavailable`
   */
  async listPage(owner: Owner, filter: PlantFilter, limit: number): Promise<Page> {
    const plants = await this.#storage.selectPlants(owner, { ...filter, limit: limit + 1 });
    if (plants.length <= limit) return { plants };
    plants.pop();
    return { plants, next: plants.at(-1)?.id as PlantId };
  }
}
