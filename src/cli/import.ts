import { PlantStoreClient } from "../client/index.ts";
import { readConfig } from "../config/config.ts";
import type { Format } from "../files/formats.ts";
import { importRows } from "../files/import.ts";
import { type Row, readRows } from "../files/read.ts";
import { chooseFormat, formatOption } from "./choose-format.ts";
import { command } from "./command.ts";
import { formatCount } from "./maintenance.ts";
import { openProgress } from "./progress.ts";

const FORMATS_HELP = `
Formats, by file extension or --format:
  ndjson  one object per line: {"id": 1, "name": "Clarkia", "tag": "annual"}
  csv     the first line names the columns: id, name and optionally tag; other columns
          are ignored; "" is an empty tag, an empty cell without quotes is no tag
  json    one array of such objects, which is read into memory as a whole`;

/** `plantstore import FILE` */
export const importCommand = () =>
  command("import", ["url", "token"])
    .summary("create plants from a file")
    .description(
      "Creates the plants of a file through the API. Imports the valid rows and reports each skipped row with its line and problem; exits with 1 if any row was skipped. To resume an interrupted import, run it again: a plant that already exists with the same fields counts as imported.",
    )
    .addHelpText("after", FORMATS_HELP)
    .argument("<file>", "file to read, or - for standard input")
    .addOption(formatOption("by file extension"))
    .action((file: string, flags) => importFile(file, flags));

async function importFile(file: string, flags: Record<string, unknown>): Promise<void> {
  const format = chooseFormat(file, flags["format"] as Format | undefined);
  const client = new PlantStoreClient(readConfig(["url", "token"], flags));
  const source = file === "-" ? Bun.stdin : Bun.file(file);
  if (file !== "-" && !(await source.exists())) throw new Error(`cannot read ${file}: no such file`);
  const progress = openProgress("importing", file === "-" ? undefined : source.size);
  let [imported, skipped, bytesRead] = [0, 0, 0];
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytesRead += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const onRow = ({ line }: Row, problem: string | undefined) => {
    if (problem === undefined) imported++;
    else {
      skipped++;
      console.error(`line ${line}: ${problem}`);
    }
    progress.update(bytesRead, imported);
  };
  try {
    await importRows(client, readRows(source.stream().pipeThrough(counting), format), onRow);
  } catch (error) {
    if (imported === 0) throw error;
    const { message } = error as Error;
    throw new Error(
      `${message}; stopped after ${formatCount(imported, "plant")}; to resume, run the same command again`,
    );
  } finally {
    progress.stop();
  }
  console.log(`${formatCount(imported, "plant")} imported`);
  if (skipped > 0) throw new Error(`${skipped} ${skipped === 1 ? "row" : "rows"} skipped`);
}
