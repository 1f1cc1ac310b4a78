import { readConfig } from "../config/config.ts";
import { checkDatabase } from "../storage/sqlite/backup.ts";
import { RESTORE_REMEDY } from "../storage/sqlite/errors.ts";
import { command } from "./command.ts";
import { abortOnStopSignal, formatContents, requireSqlite } from "./maintenance.ts";

/** `plantstore check` */
export const checkCommand = () =>
  command("check", ["database"])
    .summary("check the integrity of the database")
    .description(
      "Reads a whole SQLite database, even while a server uses it. Checks its structure and validates every plant and token. Prints one line per problem and exits with 1 if there are any.",
    )
    .action(async (flags) => {
      const database = requireSqlite("check", readConfig(["database"], flags).database);
      const result = await checkDatabase(database, { signal: abortOnStopSignal() });
      if (!("problems" in result)) return console.log(`no problems in ${database}: ${formatContents(result)}`);
      for (const problem of result.problems) console.error(problem);
      throw new Error(`${database} failed the check: ${RESTORE_REMEDY}`);
    });
