import { signal } from "@preact/signals";
import { PLANT_FIELDS } from "../../domain/plant.ts";
import { type Format, formatOf } from "../../files/formats.ts";
import type { Row } from "../../files/read.ts";
import { reload } from "./plants.ts";
import { describeError, longTaskClient } from "./session.ts";

/** Rows shown in the preview. */
const PREVIEW_LENGTH = 5;
/** Maximum number of skipped rows kept for the report; all are counted. */
const MAX_SKIPPED = 10_000;
/** Maximum number of names of ignored fields kept. */
const MAX_IGNORED = 50;
/** Minimum milliseconds between two progress updates. */
const UPDATE_INTERVAL_MS = 100;

/** Contents of a file, before anything is sent. */
export interface Preview {
  readonly file: File;
  readonly format: Format;
  readonly first: readonly Row[];
  /** The number of valid rows. */
  readonly valid: number;
  /** The number of invalid rows. */
  readonly invalid: number;
  /** The names of fields that an import ignores. */
  readonly ignored: ReadonlySet<string>;
}

/** A row that was not imported. */
interface SkippedRow {
  readonly line: number;
  readonly reason: string;
}

/** Progress of an import. */
export interface Progress {
  readonly status: "running" | "done" | "stopped" | "failed";
  readonly imported: number;
  readonly skippedCount: number;
  readonly skipped: readonly SkippedRow[];
  /** Seconds since the start. */
  readonly seconds: number;
  /** Why the import failed; empty unless `status` is `failed`. */
  readonly error: string;
}

/** The chosen file; `undefined` before one is read. */
export const preview = signal<Preview | undefined>();
/** Progress of the import; `undefined` before it starts. */
export const progress = signal<Progress | undefined>();

let controller = new AbortController();

/** Reads and validates a file for the preview. */
export async function chooseFile(file: File, signal: AbortSignal): Promise<void> {
  const format = formatOf(file.name);
  if (format === undefined) {
    throw new Error(`${file.name} is not supported: the name must end in .csv, .json, .ndjson or .jsonl`);
  }
  const first: Row[] = [];
  const ignored = new Set<string>();
  let [valid, invalid] = [0, 0];
  try {
    const { readRows } = await import("../file-io.ts");
    for await (const row of readRows(file.stream(), format)) {
      signal.throwIfAborted();
      if (first.length < PREVIEW_LENGTH) first.push(row);
      if ("plant" in row) valid++;
      else invalid++;
      for (const field of row.fields) if (!isPlantField(field) && ignored.size < MAX_IGNORED) ignored.add(field);
    }
  } catch (error) {
    throw new Error(`${file.name} cannot be imported: ${describeError(error)}`);
  }
  preview.value = { file, format, first, valid, invalid, ignored };
}

/** Imports the chosen file, or continues a stopped import: plants that exist already count as imported. */
export async function startImport(): Promise<void> {
  const chosen = preview.peek();
  if (chosen === undefined || progress.peek()?.status === "running") return;
  controller = new AbortController();
  const { signal } = controller;
  const skipped: SkippedRow[] = [];
  const startedMs = performance.now();
  let [imported, skippedCount, updatedMs] = [0, 0, 0];
  const update = (status: Progress["status"], error = "") => {
    const seconds = (performance.now() - startedMs) / 1_000;
    progress.value = { status, imported, skippedCount, skipped, seconds, error };
    updatedMs = performance.now();
  };
  update("running");
  addEventListener("beforeunload", confirmLeave);
  try {
    const { importRows, readRows } = await import("../file-io.ts");
    const onRow = ({ line }: Row, reason: string | undefined) => {
      if (reason === undefined) imported++;
      else if (skippedCount++ < MAX_SKIPPED) skipped.push({ line, reason });
      if (performance.now() - updatedMs > UPDATE_INTERVAL_MS) update("running");
    };
    await importRows(longTaskClient(), readRows(chosen.file.stream(), chosen.format), onRow, signal);
    update("done");
  } catch (error) {
    update(signal.aborted ? "stopped" : "failed", signal.aborted ? "" : describeError(error));
  } finally {
    removeEventListener("beforeunload", confirmLeave);
    reload();
  }
}

/** Stops the import. Plants already imported remain. */
export const cancelImport = (): void => controller.abort();

/** Discards the file and the progress. */
export function reset(): void {
  preview.value = undefined;
  progress.value = undefined;
}

const isPlantField = (field: string): boolean => (PLANT_FIELDS as readonly string[]).includes(field);

/** Asks the user to confirm leaving the page, which would stop the import. */
const confirmLeave = (event: Event): void => event.preventDefault();
