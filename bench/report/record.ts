import type { Machine } from "../machine.ts";
import type { Metric, RunSettings } from "../scenario.ts";

/** The record of a run: `docs/performance.json`. */
export interface RunRecord {
  /** Date of the run, such as 2026-11-21. */
  readonly date: string;
  readonly minutes: number;
  readonly depth: RunSettings;
  readonly machine: Machine;
  readonly peers: readonly { readonly name: string; readonly version: string; readonly durability: string }[];
  readonly results: readonly ScenarioResult[];
}

/** Metrics of a scenario. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly figures: readonly Metric[];
  /** Error message of a scenario that failed. It has no metrics. */
  readonly failure?: string;
}
