import { PlantStoreClient } from "../client/index.ts";
import { readConfig } from "../config.ts";
import { FORMATS } from "../files/formats.ts";
import { importRows } from "../files/import.ts";
import { type Row, readRows } from "../files/read.ts";
import { chooseFormat } from "./choose-format.ts";
import { command } from "./command.ts";
import { openProgress } from "./progress.ts";

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

async function importFile(file: string, flags: Record<string, unknown>): Promise<void> {
  const format = chooseFormat(file, flags["format"] as string | undefined);
  const client = new PlantStoreClient(readConfig(["url", "token"], flags));
  const source = file === "-" ? Bun.stdin : Bun.file(file);
  if (file !== "-" && !(await source.exists())) throw new Error(`${file} cannot be read: there is no such file`);
  const progress = openProgress("importing", file === "-" ? undefined : source.size);
  let [imported, refused, bytesRead] = [0, 0, 0];
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytesRead += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const settle = ({ line }: Row, fault: string | undefined) => {
    if (fault === undefined) imported++;
    else {
      refused++;
      console.error(`line ${line}: ${fault}`);
    }
    progress.update(bytesRead, imported);
  };
  try {
    await importRows(client, readRows(source.stream().pipeThrough(counting), format), settle);
  } catch (error) {
    throw new Error(`${(error as Error).message}; stopped after ${imported} plants; the same import can be run again`);
  } finally {
    progress.stop();
  }
  console.log(`${imported} plants imported`);
  if (refused > 0) throw new Error(`${refused} ${refused === 1 ? "row was" : "rows were"} refused`);
}
