import { readConfig } from "../config/config.ts";
import { backUp } from "../storage/sqlite/backup.ts";
import { command } from "./command.ts";
import { abortOnStopSignal, formatContents, requireSqlite } from "./maintenance.ts";

/** `plantstore backup FILE` */
export const backupCommand = () =>
  command("backup", ["database"])
    .summary("back up the database, even while a server uses it")
    .description(
      "Copies a SQLite database, including tokens, to a new file that only you can read. The copy is a consistent, compact snapshot, and is checked before the file gets its name. A running server is not blocked.",
    )
    .argument("<file>", "file to create; it must not exist yet")
    .action(async (file: string, flags) => {
      const backup = await backUp(requireSqlite("backup", readConfig(["database"], flags).database), file, {
        signal: abortOnStopSignal(),
      });
      console.log(`${formatContents(backup)} backed up: ${backup.bytes} bytes`);
    });
