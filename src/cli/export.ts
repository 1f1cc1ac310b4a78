import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PlantStoreClient } from "../client/index.ts";
import { readConfig } from "../config.ts";
import type { NewPlant } from "../domain/plant.ts";
import { FORMATS, type Format } from "../files/formats.ts";
import { writeRows } from "../files/write.ts";
import { chooseFormat } from "./choose-format.ts";
import { command } from "./command.ts";
import { openProgress } from "./progress.ts";

/** `plantstore export [FILE]` */
export const exportCommand = () =>
  command("export", ["url", "token"])
    .summary("write all plants to a file")
    .description(
      "Writes the plants that the token gives access to, in ascending order of id, in a form that `import` reads back exactly. A file gets its name only once it is whole.",
    )
    .argument("[file]", "file to write, or - for standard output", "-")
    .option("--format <name>", `${FORMATS.join(", ")}; else by the file's extension, ndjson on standard output`)
    .option("--tag <text>", "only plants with exactly this tag")
    .action((file: string, flags) => exportTo(file, flags));

async function exportTo(file: string, flags: Record<string, unknown>): Promise<void> {
  const named = flags["format"] as string | undefined;
  const format = file === "-" && named === undefined ? "ndjson" : chooseFormat(file, named);
  const client = new PlantStoreClient(readConfig(["url", "token"], flags));
  const tag = flags["tag"] as string | undefined;
  const progress = openProgress("exporting", undefined);
  let count = 0;
  async function* counted(): AsyncGenerator<NewPlant, void> {
    for await (const plant of client.listPlants({ tag, limit: 10_000 })) {
      yield plant;
      progress.update(0, ++count);
    }
  }
  try {
    if (file === "-") await write(counted(), format, process.stdout, false);
    else await writeWhole(counted(), format, file);
  } finally {
    progress.stop();
  }
  if (file !== "-") console.log(`${count} plants exported`);
}

/** Writes beside the file first, so that nobody takes half an export for a whole one. */
async function writeWhole(plants: AsyncIterable<NewPlant>, format: Format, file: string): Promise<void> {
  const partial = `${file}.partial`;
  try {
    await write(plants, format, createWriteStream(partial), true);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

const write = (plants: AsyncIterable<NewPlant>, format: Format, target: Writable, end: boolean): Promise<void> =>
  pipeline(Readable.from(writeRows(plants, format)), target, { end });
