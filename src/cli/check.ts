import { readConfig } from "../config.ts";
import { check } from "../storage/sqlite/backup.ts";
import { DAMAGE_REMEDY } from "../storage/sqlite/failures.ts";
import { command } from "./command.ts";
import { describe, interruption, requireSqlite } from "./maintenance.ts";

/** `plantstore check` */
export const checkCommand = () =>
  command("check", ["database"])
    .summary("look whether the database is sound")
    .description(
      "Reads the whole SQLite database, which a server may be using: its structure, and every plant and token against the limits. What is wrong is told line by line, and the exit code is then 1.",
    )
    .action(async (flags) => {
      const database = requireSqlite("check", readConfig(["database"], flags).database);
      const found = await check(database, { signal: interruption() });
      if (!("faults" in found)) return console.log(`${describe(found)}: ${database} is sound`);
      for (const fault of found.faults) console.error(fault);
      throw new Error(`${database} is no sound database; ${DAMAGE_REMEDY}`);
    });
