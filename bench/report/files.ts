import { join } from "node:path";
import { installPackages } from "../install.ts";
import { drawCharts } from "./charts.ts";
import { replaceBetween } from "./markers.ts";
import { writePage } from "./page.ts";
import type { RunRecord } from "./record.ts";

const ROOT = join(import.meta.dir, "../..");
const PAGE = join(ROOT, "docs/performance.md");
const RECORD = join(ROOT, "docs/performance.json");

/**
 * To be called before a run that is to be written down: better now than after it.
 * @throws Error when the page has no place for it, or the charts cannot be drawn
 */
export async function prepareReport(): Promise<void> {
  replaceBetween(await Bun.file(PAGE).text(), "bench", "");
  installPackages(import.meta.dir);
}

/** Writes what a run found out to `docs/`: the record, the charts, and the part of the page that is made of them. */
export async function writeReport(record: RunRecord): Promise<void> {
  await Bun.write(RECORD, JSON.stringify(record));
  const charts = drawCharts(record.results.flatMap(({ figures }) => figures));
  for (const { file, svg } of charts) await Bun.write(join(ROOT, "docs", file), svg);
  const part = writePage(record, new Map(charts.map(({ file, alt }) => [file, alt])));
  await Bun.write(PAGE, replaceBetween(await Bun.file(PAGE).text(), "bench", part));
  Bun.spawnSync([join(ROOT, "node_modules/.bin/biome"), "check", "--write", PAGE, RECORD]);
  console.error("wrote docs/performance.md");
}

/**
 * What the last run found out.
 * @throws Error when there was none
 */
export async function readRecord(): Promise<RunRecord> {
  const file = Bun.file(RECORD);
  if (!(await file.exists())) throw new Error("there is no docs/performance.json: run the benchmark first");
  return (await file.json()) as RunRecord;
}
