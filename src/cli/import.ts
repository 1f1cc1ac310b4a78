import { PlantStoreClient, PlantStoreError } from "../client/index.ts";
import { readConfig } from "../config.ts";
import { ID_MIN, type NewPlant, type PlantId } from "../domain/plant.ts";
import { command } from "./command.ts";
import { chooseFormat, FORMATS, type Row, readRows } from "./formats.ts";
import { openProgress } from "./progress.ts";

/** Creates on their way at a time: enough to fill the server's groups. */
const IN_FLIGHT = 64;

const FORMATS_HELP = `
Formats, by the file's extension or --format:
  ndjson  {"id": 1, "name": "Clarkia", "tag": "annual"} on every line
  csv     the first line names the columns: id, name and, if wanted, tag; others are
          passed over; a quoted empty tag ("") is an empty tag, an unquoted one is none
  json    one array of such objects, read into memory as a whole`;

/** `plantstore import FILE` */
export const importCommand = () =>
  command("import", ["url", "token"])
    .summary("create plants from a file")
    .description(
      "Creates the plants of a file through the API. Rows that are refused are reported with their line and the field, the others go in; the exit code is then 1. The same import can be run again, to go on after an interruption: what is there already, equal in every field, counts as imported.",
    )
    .addHelpText("after", FORMATS_HELP)
    .argument("<file>", "file to read, or - for standard input")
    .option("--format <name>", FORMATS.join(", "))
    .action((file: string, flags) => importFile(file, flags));

interface Tally {
  imported: number;
  refused: number;
}

async function importFile(file: string, flags: Record<string, unknown>): Promise<void> {
  const format = chooseFormat(file, flags["format"] as string | undefined);
  const client = new PlantStoreClient(readConfig(["url", "token"], flags));
  const source = file === "-" ? Bun.stdin : Bun.file(file);
  if (file !== "-" && !(await source.exists())) throw new Error(`${file} cannot be read: there is no such file`);
  const progress = openProgress("importing", file === "-" ? undefined : source.size);
  const tally: Tally = { imported: 0, refused: 0 };
  let bytesRead = 0;
  async function* counted() {
    for await (const chunk of source.stream()) {
      bytesRead += chunk.length;
      yield chunk;
    }
  }
  try {
    await importRows(client, readRows(counted(), format), tally, () => progress.update(bytesRead, tally.imported));
  } catch (error) {
    throw new Error(
      `${(error as Error).message}; stopped after ${tally.imported} plants; the same import can be run again`,
    );
  } finally {
    progress.stop();
  }
  console.log(`${tally.imported} plants imported`);
  if (tally.refused > 0) throw new Error(`${tally.refused} ${tally.refused === 1 ? "row was" : "rows were"} refused`);
}

async function importRows(
  client: PlantStoreClient,
  rows: AsyncGenerator<Row, void>,
  tally: Tally,
  onProgress: () => void,
): Promise<void> {
  const stop = new AbortController();
  const sending = new Map<PlantId, Promise<void>>();
  async function worker(): Promise<void> {
    for await (const row of rows) {
      const fault = "fault" in row ? row.fault : await sendInOrder(row.plant);
      if (fault === undefined) tally.imported++;
      else {
        tally.refused++;
        console.error(`line ${row.line}: ${fault}`);
      }
      onProgress();
    }
  }
  /** Of two rows with one id the first must win, so that the second waits for it. */
  async function sendInOrder(plant: NewPlant): Promise<string | undefined> {
    while (sending.has(plant.id)) await sending.get(plant.id);
    const sent = Promise.withResolvers<void>();
    sending.set(plant.id, sent.promise);
    try {
      return await send(client, plant, stop.signal);
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
