import { PlantStoreClient, PlantStoreError } from "../../src/client/index.ts";
import type { Plant, PlantId } from "../../src/domain/plant.ts";
import type { LedgerClient } from "./ledger.ts";

/**
 * A client of a server that may lose its database. It asks nothing twice, waits after a failure as long as the server
 * wants it to, and notes how it was treated.
 */
export class Witness implements LedgerClient {
  readonly #client: PlantStoreClient;
  /** Answers of the kind 503 with `Retry-After`, until now. */
  readonly refusals = { writes: 0, lists: 0 };
  /** Lists that were answered until now. */
  lists = 0;
  /** Any other failure: another status, or no answer within the deadline. */
  readonly faults: string[] = [];

  /** `deadlineMs` is what an answer may take. */
  constructor(server: { readonly url: string; readonly token: string }, deadlineMs: number) {
    this.#client = new PlantStoreClient({ ...server, attempts: 1, timeoutMs: deadlineMs });
  }

  createPlant(plant: Plant, options: { readonly idempotencyKey?: string } = {}) {
    return this.#watch("writes", this.#client.createPlant(plant, options));
  }

  deletePlant(id: PlantId): Promise<void> {
    return this.#watch("writes", this.#client.deletePlant(id));
  }

  async *listPlants(): AsyncGenerator<Plant, void> {
    const plants = await this.#watch("lists", Array.fromAsync(this.#client.listPlants({ limit: 5_000 })));
    this.lists++;
    yield* plants;
  }

  async #watch<Result>(kind: keyof Witness["refusals"], call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      const { status = 0, retryAfterMs = 0 } = error instanceof PlantStoreError ? error : {};
      if (status === 503 && retryAfterMs > 0) this.refusals[kind]++;
      else if (status === 0 || status >= 500) this.faults.push(String(error));
      await Bun.sleep(retryAfterMs);
      throw error;
    }
  }
}
