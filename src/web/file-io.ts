import { stringify as csvLines } from "csv-stringify/sync";
import type { PlantStoreClient } from "../client/index.ts";
import type { Format } from "../files/formats.ts";
import { writeRows } from "../files/write.ts";

// All that reads and writes files comes with this module, which is loaded when the first file is.
export { importRows } from "../files/import.ts";
export { readRows } from "../files/read.ts";

/** Characters after which a piece of a file is given to the browser, which may keep it on disk. */
const PIECE_LENGTH = 1_000_000;

/** The plants with this tag, or all, as a file; `onCount` hears now and then how many are in it. */
export async function plantsFile(
  client: PlantStoreClient,
  tag: string | undefined,
  format: Format,
  onCount: (count: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  let count = 0;
  async function* counted() {
    for await (const plant of client.listPlants({ tag, limit: 5_000, signal })) {
      if (++count % 5_000 === 0) onCount(count);
      yield plant;
    }
  }
  const pieces: Blob[] = [];
  let text = "";
  for await (const rows of writeRows(counted(), format)) {
    text += rows;
    if (text.length < PIECE_LENGTH) continue;
    pieces.push(new Blob([text]));
    text = "";
  }
  return new Blob([...pieces, text]);
}

/** Refused rows as a file for a spreadsheet. */
export const refusedFile = (refused: readonly { readonly line: number; readonly reason: string }[]): Blob =>
  new Blob([csvLines([["line", "reason"], ...refused.map(({ line, reason }) => [line, reason])])]);

/** Hands a file to the person. */
export function download(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // Not every browser has taken hold of the file by now.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
