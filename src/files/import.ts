import { type PlantStoreClient, PlantStoreError } from "../client/index.ts";
import { ID_MIN, isSamePlant, type Plant, type PlantId } from "../domain/plant.ts";
import type { Row } from "./read.ts";

/** Concurrent creates, enough to fill the server's write batches. */
const MAX_IN_FLIGHT = 64;

/**
 * Creates the plants of a file through the API. Calls `onRow` for each row, with the problem of a skipped row, or with
 * `undefined` if the row was imported. An interrupted import can be run again: a plant that already exists with equal
 * fields counts as imported.
 * @throws PlantStoreError, ConnectionError on any other failure; the signal's reason; any error that `rows` throws
 */
export async function importRows(
  client: PlantStoreClient,
  rows: AsyncGenerator<Row, void>,
  onRow: (row: Row, problem: string | undefined) => void,
  signal?: AbortSignal,
): Promise<void> {
  const controller = new AbortController();
  const combinedSignal = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  const inFlight = new Map<PlantId, Promise<unknown>>();
  async function worker(): Promise<void> {
    for await (const row of rows) {
      combinedSignal.throwIfAborted();
      onRow(row, "problem" in row ? row.problem : await createInOrder(row.plant));
    }
  }
  /** Creates rows with the same id one after another, so that the first one wins. */
  async function createInOrder(plant: Plant): Promise<string | undefined> {
    while (inFlight.has(plant.id)) await Promise.allSettled([inFlight.get(plant.id)]);
    const creating = create(client, plant, combinedSignal).finally(() => inFlight.delete(plant.id));
    inFlight.set(plant.id, creating);
    return creating;
  }
  const workers = Array.from({ length: MAX_IN_FLIGHT }, worker);
  await Promise.all(workers).catch(async (error) => {
    controller.abort(error);
    await Promise.allSettled(workers);
    throw error;
  });
}

/** Creates one plant. Returns the problem if the server responds with 400; throws any other error, which ends the import. */
async function create(client: PlantStoreClient, plant: Plant, signal: AbortSignal): Promise<string | undefined> {
  try {
    // Repeated runs use the same key, so that a plant created by an earlier run counts as imported.
    await client.createPlant(plant, { idempotencyKey: `import-${plant.id}`, signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof PlantStoreError) || error.status !== 400) throw error;
    const exists = error.code === "duplicate_id" && (await plantExists(client, plant, signal));
    return exists ? undefined : error.message;
  }
}

/** Returns whether the server has an identical plant; `false` if the list fails, for example without `plants:read`. */
async function plantExists(client: PlantStoreClient, plant: Plant, signal: AbortSignal): Promise<boolean> {
  const after = plant.id === ID_MIN ? undefined : plant.id - 1n;
  const [existing] = await client.listPage({ after, limit: 1, signal }).then(
    ({ plants }) => plants,
    () => [],
  );
  return existing !== undefined && isSamePlant(existing, plant);
}
