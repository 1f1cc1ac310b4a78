import { stringify as formatCsv } from "csv-stringify/sync";
import type { PlantStoreClient } from "../client/index.ts";
import type { Format } from "../files/formats.ts";
import { writeRows } from "../files/write.ts";

// This module is loaded on demand: it bundles the CSV packages.
export { importRows } from "../files/import.ts";
export { readRows } from "../files/read.ts";

/** Characters per Blob part: a browser can keep parts on disk. */
const PART_LENGTH = 1_000_000;

/** Exports the plants with a tag, or all plants; calls `onProgress` with the running total every 5,000 plants. */
export async function exportPlants(
  client: PlantStoreClient,
  tag: string | undefined,
  format: Format,
  onProgress: (count: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  let count = 0;
  async function* counted() {
    for await (const plant of client.listPlants({ tag, limit: 5_000, signal })) {
      if (++count % 5_000 === 0) onProgress(count);
      yield plant;
    }
  }
  const parts: Blob[] = [];
  let text = "";
  for await (const rows of writeRows(counted(), format)) {
    text += rows;
    if (text.length < PART_LENGTH) continue;
    parts.push(new Blob([text]));
    text = "";
  }
  return new Blob([...parts, text]);
}

/** Returns a CSV file of the skipped rows. */
export const skippedRowsFile = (skipped: readonly { readonly line: number; readonly reason: string }[]): Blob =>
  new Blob([formatCsv([["line", "reason"], ...skipped.map(({ line, reason }) => [line, reason])])]);

/** Starts a download in the browser. */
export function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // Some browsers open the URL only after this function returns.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
