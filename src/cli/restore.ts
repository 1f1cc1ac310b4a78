import { readConfig } from "../config/config.ts";
import { restore } from "../storage/sqlite/restore.ts";
import { command } from "./command.ts";
import { abortOnStopSignal, formatContents, requireSqlite } from "./maintenance.ts";

/** `plantstore restore FILE` */
export const restoreCommand = () =>
  command("restore", ["database"])
    .summary("replace the database with a backup")
    .description(
      "Checks a backup and copies it to the file in --database, which no server may be using. Tokens are restored too: a token that was revoked after the backup becomes valid again.",
    )
    .argument("<file>", "backup to restore; it is not modified")
    .option("--force", "replace an existing database, which is kept under another name")
    .action(async (file: string, flags) => {
      const database = requireSqlite("restore", readConfig(["database"], flags).database);
      const restored = await restore(file, database, { isForced: flags.force === true, signal: abortOnStopSignal() });
      const previous = restored.keptPath === undefined ? "" : `; the previous database is now ${restored.keptPath}`;
      console.log(`${formatContents(restored)} restored to ${database}${previous}`);
    });
