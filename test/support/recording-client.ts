import { PlantStoreClient, PlantStoreError } from "../../src/client/index.ts";
import type { Plant, PlantId } from "../../src/domain/plant.ts";
import type { LedgerClient } from "./ledger.ts";

/** A client of a server that may lose its database. It never retries, waits for `Retry-After`, and records failures. */
export class RecordingClient implements LedgerClient {
  readonly #client: PlantStoreClient;
  /** Number of 503 responses with `Retry-After`. */
  readonly rejections = { writes: 0, lists: 0 };
  /** Number of complete lists. */
  lists = 0;
  /** All other failures: another 5xx status, or no response within the deadline. */
  readonly failures: string[] = [];

  /** `deadlineMs` is the timeout of a request. */
  constructor(server: { readonly url: string; readonly token: string }, deadlineMs: number) {
    this.#client = new PlantStoreClient({ ...server, attempts: 1, timeoutMs: deadlineMs });
  }

  createPlant(plant: Plant, options: { readonly idempotencyKey?: string } = {}) {
    return this.#record("writes", this.#client.createPlant(plant, options));
  }

  deletePlant(id: PlantId): Promise<void> {
    return this.#record("writes", this.#client.deletePlant(id));
  }

  async *listPlants(): AsyncGenerator<Plant, void> {
    const plants = await this.#record("lists", Array.fromAsync(this.#client.listPlants({ limit: 5_000 })));
    this.lists++;
    yield* plants;
  }

  async #record<Result>(kind: keyof RecordingClient["rejections"], call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      const { status = 0, retryAfterMs = 0 } = error instanceof PlantStoreError ? error : {};
      if (status === 503 && retryAfterMs > 0) this.rejections[kind]++;
      else if (status === 0 || status >= 500) this.failures.push(String(error));
      await Bun.sleep(retryAfterMs);
      throw error;
    }
  }
}
