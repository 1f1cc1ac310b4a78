import type { Scenario } from "../scenario.ts";
import { bothCores } from "./both-cores.ts";
import { create } from "./create.ts";
import { databaseSize } from "./database-size.ts";
import { deletes } from "./delete.ts";
import { invalidToken } from "./invalid-token.ts";
import { list } from "./list.ts";
import { listAll } from "./list-all.ts";
import { listDuringCreates } from "./list-during-creates.ts";
import { million } from "./million.ts";
import { mixed } from "./mixed.ts";
import { openLoop } from "./open-loop.ts";
import { slowDisk } from "./slow-disk.ts";
import { starts } from "./start.ts";

/** All scenarios, in the order of the report. */
export const SCENARIOS: readonly Scenario[] = [
  ...[create, bothCores, deletes, list, listDuringCreates, listAll, mixed, invalidToken],
  ...[openLoop, slowDisk, databaseSize, million, starts],
];
