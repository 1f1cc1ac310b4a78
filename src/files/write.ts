import { stringify as csvLines } from "csv-stringify/sync";
import { stringifyJson } from "../domain/json.ts";
import type { Plant } from "../domain/plant.ts";
import { PLANT_FIELDS } from "../domain/plant.ts";
import type { Format } from "./formats.ts";

/** Yields the text of a file with these plants, in chunks. `readRows` restores the plants exactly. */
export async function* writeRows(plants: AsyncIterable<Plant>, format: Format): AsyncGenerator<string, void> {
  if (format === "csv") yield `${PLANT_FIELDS.join(",")}\n`;
  let separator = "[\n";
  for await (const { id, name, tag } of plants) {
    // Quotes distinguish an empty tag from no tag.
    if (format === "csv") yield csvLines([[String(id), name, tag]], { quoted_match: /^$|\r/ });
    else if (format === "ndjson") yield `${stringifyJson({ id, name, tag })}\n`;
    else yield `${separator}${stringifyJson({ id, name, tag })}`;
    separator = ",\n";
  }
  if (format === "json") yield separator === "[\n" ? "[]\n" : "\n]\n";
}
