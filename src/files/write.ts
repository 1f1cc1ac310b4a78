import { stringify as csvLines } from "csv-stringify/sync";
import { PLANT_FIELDS, type Plant, stringifyPlants } from "../domain/plant.ts";
import type { Format } from "./formats.ts";

/** Yields the text of a file with these plants, in chunks. `readRows` restores the plants exactly. */
export async function* writeRows(plants: AsyncIterable<Plant>, format: Format): AsyncGenerator<string, void> {
  if (format === "csv") yield `${PLANT_FIELDS.join(",")}\n`;
  let separator = "[\n";
  for await (const plant of plants) {
    // Quotes distinguish an empty tag from no tag.
    if (format === "csv") yield csvLines([PLANT_FIELDS.map((field) => plant[field])], { quoted_match: /^$|\r/ });
    else if (format === "ndjson") yield `${stringifyPlants([plant])}\n`;
    else yield `${separator}${stringifyPlants([plant])}`;
    separator = ",\n";
  }
  if (format === "json") yield separator === "[\n" ? "[]\n" : "\n]\n";
}
