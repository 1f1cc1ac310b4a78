import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PlantStoreClient } from "../client/index.ts";
import { readConfig } from "../config/config.ts";
import type { Plant } from "../domain/plant.ts";
import type { Format } from "../files/formats.ts";
import { writeRows } from "../files/write.ts";
import { chooseFormat, formatOption } from "./choose-format.ts";
import { command } from "./command.ts";
import { formatCount } from "./maintenance.ts";
import { openProgress } from "./progress.ts";

/** `plantstore export [FILE]` */
export const exportCommand = () =>
  command("export", ["url", "token"])
    .summary("write all plants to a file")
    .description(
      "Writes all plants of the token's owner, ordered by ascending id, in a format that `import` restores exactly. The file is created or replaced only when the export is complete.",
    )
    .argument("[file]", "file to write, or - for standard output", "-")
    .addOption(formatOption("by file extension, or ndjson on standard output"))
    .option("--tag <text>", "only plants with exactly this tag")
    .action((file: string, flags) => exportTo(file, flags));

async function exportTo(file: string, flags: Record<string, unknown>): Promise<void> {
  const chosen = flags["format"] as Format | undefined;
  const format = file === "-" && chosen === undefined ? "ndjson" : chooseFormat(file, chosen);
  const client = new PlantStoreClient(readConfig(["url", "token"], flags));
  const tag = flags["tag"] as string | undefined;
  const progress = openProgress("exporting", undefined);
  let count = 0;
  async function* counted(): AsyncGenerator<Plant, void> {
    for await (const plant of client.listPlants({ tag, limit: 10_000 })) {
      yield plant;
      progress.update(0, ++count);
    }
  }
  try {
    if (file === "-") await write(counted(), format, process.stdout, false);
    else await writeFile(counted(), format, file);
  } finally {
    progress.stop();
  }
  if (file !== "-") console.log(`${formatCount(count, "plant")} exported`);
}

/** Writes to a temporary file first, so that the file never holds a partial export. */
async function writeFile(plants: AsyncIterable<Plant>, format: Format, file: string): Promise<void> {
  const partial = `${file}.partial`;
  try {
    await write(plants, format, createWriteStream(partial), true);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

const write = (plants: AsyncIterable<Plant>, format: Format, target: Writable, end: boolean): Promise<void> =>
  pipeline(Readable.from(writeRows(plants, format)), target, { end });
