import { join } from "node:path";
import { installPackages } from "../install.ts";
import { drawCharts } from "./charts.ts";
import { replaceBetween } from "./markers.ts";
import { formatPage } from "./page.ts";
import type { RunRecord } from "./record.ts";

const ROOT = join(import.meta.dir, "../..");
const PAGE = join(ROOT, "docs/performance.md");
const RECORD = join(ROOT, "docs/performance.json");

/**
 * Checks the page and installs the chart library. Call it before a run, so that problems show up before the measurements.
 * @throws Error when the page lacks the markers or the chart library cannot be installed
 */
export async function prepareReport(): Promise<void> {
  replaceBetween(await Bun.file(PAGE).text(), "bench", "");
  installPackages(import.meta.dir);
}

/** Writes the record, the charts and the generated part of the page to `docs/`. */
export async function writeReport(record: RunRecord): Promise<void> {
  await Bun.write(RECORD, JSON.stringify(record));
  const charts = drawCharts(record.results.flatMap((result) => result.figures));
  for (const { file, svg } of charts) await Bun.write(join(ROOT, "docs", file), svg);
  const generated = formatPage(record, new Map(charts.map(({ file, alt }) => [file, alt])));
  await Bun.write(PAGE, replaceBetween(await Bun.file(PAGE).text(), "bench", generated));
  Bun.spawnSync([join(ROOT, "node_modules/.bin/biome"), "check", "--write", PAGE, RECORD]);
  console.error("wrote docs/performance.md");
}

/**
 * Reads the record of the last run.
 * @throws Error when there is none
 */
export async function readRecord(): Promise<RunRecord> {
  const file = Bun.file(RECORD);
  if (!(await file.exists())) throw new Error("docs/performance.json does not exist: run the benchmark first");
  return (await file.json()) as RunRecord;
}
