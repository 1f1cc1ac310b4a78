import type { Scenario } from "../scenario.ts";
import { bothCores } from "./both-cores.ts";
import { create } from "./create.ts";
import { deletes } from "./delete.ts";
import { list } from "./list.ts";
import { listAll } from "./list-all.ts";
import { mixed } from "./mixed.ts";
import { refuse } from "./refuse.ts";

/** Everything that is measured, in the order of the report. */
export const SCENARIOS: readonly Scenario[] = [create, bothCores, deletes, list, listAll, mixed, refuse];
