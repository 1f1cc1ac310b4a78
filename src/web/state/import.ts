import { batch, signal } from "@preact/signals";
import { FIELDS } from "../../domain/page.ts";
import { type Format, formatOf } from "../../files/formats.ts";
import type { Row } from "../../files/read.ts";
import { reload } from "./plants.ts";
import { explain, patientClient } from "./session.ts";

/** Rows that are shown before the import. */
const PREVIEW_LENGTH = 5;
/** Refused rows that are kept; all are counted. */
const MAX_REFUSED = 10_000;
/** Names of fields that are kept. */
const MAX_FIELDS = 50;
/** Milliseconds between two looks at how far it is. */
const LOOK_EVERY_MS = 100;

/** What is in a file, as it was read before anything is sent. */
export interface Preview {
  readonly file: File;
  readonly format: Format;
  readonly first: readonly Row[];
  /** Rows that hold a plant, and rows that hold none. */
  readonly good: number;
  readonly bad: number;
  /** The names of all its fields. */
  readonly fields: ReadonlySet<string>;
}

/** A row that did not go in. */
interface Refused {
  readonly line: number;
  readonly reason: string;
}

/** How far an import is. */
export interface Progress {
  readonly status: "running" | "done" | "stopped" | "failed";
  readonly imported: number;
  readonly refusedCount: number;
  readonly refused: readonly Refused[];
  /** Seconds since it began. */
  readonly seconds: number;
  /** Why it failed. */
  readonly fault: string;
}

/** The file that was chosen; `undefined` before. */
export const preview = signal<Preview | undefined>();
/** Whether a file is being read. */
export const isReading = signal(false);
/** Why a file cannot be imported; empty when it can. */
export const fileFault = signal("");
/** How far its import is; `undefined` before it is started. */
export const progress = signal<Progress | undefined>();

let stop = new AbortController();

/** Reads a file through, so that a person sees what would come of it. */
export async function choose(file: File): Promise<void> {
  forget();
  const { signal } = stop;
  const format = formatOf(file.name);
  if (format === undefined) {
    fileFault.value = `${file.name} is none of these: the name must end in .csv, .json, .ndjson or .jsonl`;
    return;
  }
  isReading.value = true;
  const first: Row[] = [];
  const fields = new Set<string>();
  let [good, bad] = [0, 0];
  try {
    const { readRows } = await import("../file-io.ts");
    for await (const row of readRows(file.stream(), format)) {
      if (signal.aborted) return;
      if (first.length < PREVIEW_LENGTH) first.push(row);
      if ("plant" in row) good++;
      else bad++;
      for (const field of row.fields) if (fields.size < MAX_FIELDS) fields.add(field);
    }
    preview.value = { file, format, first, good, bad, fields };
  } catch (error) {
    if (!signal.aborted) fileFault.value = `${file.name} cannot be imported: ${explain(error)}`;
  } finally {
    if (!signal.aborted) isReading.value = false;
  }
}

/** Creates the plants of the chosen file. Can be started again after it was stopped: what is there counts as imported. */
export async function start(): Promise<void> {
  const chosen = preview.peek();
  if (chosen === undefined || progress.peek()?.status === "running") return;
  stop = new AbortController();
  const { signal } = stop;
  const refused: Refused[] = [];
  const startedMs = performance.now();
  let [imported, refusedCount, lookedMs] = [0, 0, 0];
  const look = (status: Progress["status"], fault = "") => {
    const seconds = (performance.now() - startedMs) / 1_000;
    progress.value = { status, imported, refusedCount, refused, seconds, fault };
    lookedMs = performance.now();
  };
  look("running");
  addEventListener("beforeunload", warn);
  try {
    const { importRows, readRows } = await import("../file-io.ts");
    const settle = ({ line }: Row, reason: string | undefined) => {
      if (reason === undefined) imported++;
      else if (refusedCount++ < MAX_REFUSED) refused.push({ line, reason });
      if (performance.now() - lookedMs > LOOK_EVERY_MS) look("running");
    };
    await importRows(patientClient(), readRows(chosen.file.stream(), chosen.format), settle, signal);
    look("done");
  } catch (error) {
    look(signal.aborted ? "stopped" : "failed", signal.aborted ? "" : explain(error));
  } finally {
    removeEventListener("beforeunload", warn);
    reload();
  }
}

/** Stops the import; what went in, stays. */
export const cancel = (): void => stop.abort();

/** Makes room for another file. */
export function forget(): void {
  stop.abort();
  stop = new AbortController();
  batch(() => {
    preview.value = undefined;
    progress.value = undefined;
    isReading.value = false;
    fileFault.value = "";
  });
}

/** The fields of a file that are no plant's. */
export const passedOver = ({ fields }: Preview): string[] =>
  [...fields].filter((field) => !(FIELDS as readonly string[]).includes(field));

/** Closing the tab would end the import. */
const warn = (event: Event): void => event.preventDefault();
