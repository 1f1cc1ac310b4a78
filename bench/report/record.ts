import type { Machine } from "../machine.ts";
import type { Depth, Figure } from "../scenario.ts";

/** All that one run found out: `docs/performance.json`. */
export interface RunRecord {
  /** Day of the run, as in 2026-11-21. */
  readonly date: string;
  readonly minutes: number;
  readonly depth: Depth;
  readonly machine: Machine;
  readonly peers: readonly { readonly name: string; readonly version: string; readonly durability: string }[];
  readonly results: readonly ScenarioResult[];
}

/** What a scenario came to. */
export interface ScenarioResult {
  readonly scenario: string;
  readonly figures: readonly Figure[];
  /** Why it has none. */
  readonly failure?: string;
}
