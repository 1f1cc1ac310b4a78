import { type PlantStoreClient, PlantStoreError } from "../client/index.ts";
import { ID_MIN, type NewPlant, type PlantId } from "../domain/plant.ts";
import type { Row } from "./read.ts";

/** Creates on their way at a time: enough to fill the server's groups. */
const IN_FLIGHT = 64;

/**
 * Creates the plants of a file through the API. `onRow` hears of every row once it is settled: `fault` is what was wrong
 * with it, by the file or by the server, `undefined` when the plant is there. The same import can be run again, to go on
 * after an interruption: what is there already, equal in every field, counts as imported.
 * @throws PlantStoreError, ConnectionError when the server cannot go on; the signal's reason; whatever `rows` throws
 */
export async function importRows(
  client: PlantStoreClient,
  rows: AsyncGenerator<Row, void>,
  onRow: (row: Row, fault: string | undefined) => void,
  signal?: AbortSignal,
): Promise<void> {
  const stop = new AbortController();
  const stopped = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const sending = new Map<PlantId, Promise<void>>();
  async function worker(): Promise<void> {
    for await (const row of rows) {
      stopped.throwIfAborted();
      onRow(row, "fault" in row ? row.fault : await sendInOrder(row.plant));
    }
  }
  /** Of two rows with one id the first must win, so that the second waits for it. */
  async function sendInOrder(plant: NewPlant): Promise<string | undefined> {
    while (sending.has(plant.id)) await sending.get(plant.id);
    const sent = Promise.withResolvers<void>();
    sending.set(plant.id, sent.promise);
    try {
      return await send(client, plant, stopped);
    } finally {
      sending.delete(plant.id);
      sent.resolve();
    }
  }
  const workers = Array.from({ length: IN_FLIGHT }, worker);
  await Promise.all(workers).catch(async (error) => {
    stop.abort(error);
    await Promise.allSettled(workers);
    throw error;
  });
}

/** Creates one plant; what is wrong with it when the server refuses it. Any other failure ends the import. */
async function send(client: PlantStoreClient, plant: NewPlant, signal: AbortSignal): Promise<string | undefined> {
  try {
    // The same for every run, so that a plant which an earlier run created counts as created by this one.
    await client.createPlant(plant, { idempotencyKey: `import-${plant.id}`, signal });
    return undefined;
  } catch (error) {
    if (!(error instanceof PlantStoreError) || error.status !== 400) throw error;
    const isThere = error.code === "duplicate_id" && (await has(client, plant, signal));
    return isThere ? undefined : error.message;
  }
}

/** Whether the server has this very plant, whoever created it. A token that may not read cannot know. */
async function has(client: PlantStoreClient, { id, name, tag }: NewPlant, signal: AbortSignal): Promise<boolean> {
  const after = id === ID_MIN ? undefined : id - 1n;
  const [found] = await client.listPage({ after, limit: 1, signal }).then(
    ({ plants }) => plants,
    () => [],
  );
  return found?.id === id && found.name === name && found.tag === tag;
}
