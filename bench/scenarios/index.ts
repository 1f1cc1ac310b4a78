import type { Scenario } from "../scenario.ts";
import { bothCores } from "./both-cores.ts";
import { create } from "./create.ts";
import { deletes } from "./delete.ts";
import { list } from "./list.ts";
import { listAll } from "./list-all.ts";
import { listWhileWritten } from "./list-while-written.ts";
import { million } from "./million.ts";
import { mixed } from "./mixed.ts";
import { openLoop } from "./open-loop.ts";
import { refuse } from "./refuse.ts";
import { slowDisk } from "./slow-disk.ts";
import { starts } from "./start.ts";
import { stores } from "./stores.ts";

/** All scenarios, in the order of the report. */
export const SCENARIOS: readonly Scenario[] = [
  ...[create, bothCores, deletes, list, listWhileWritten, listAll, mixed, refuse],
  ...[openLoop, slowDisk, stores, million, starts],
];
