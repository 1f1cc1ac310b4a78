import { readConfig } from "../config.ts";
import { restore } from "../storage/sqlite/restore.ts";
import { command } from "./command.ts";
import { describe, interruption, requireSqlite } from "./maintenance.ts";

/** `plantstore restore FILE` */
export const restoreCommand = () =>
  command("restore", ["database"])
    .summary("put a backup in the place of the database")
    .description(
      "Looks through a backup and puts a copy of it where --database says, while no server runs there. Tokens come back as they were: what was revoked after the backup is valid again.",
    )
    .argument("<file>", "backup to restore; it stays as it is")
    .option("--force", "replace the database that is there; it is kept beside the new one")
    .action(async (file: string, flags) => {
      const database = requireSqlite("restore", readConfig(["database"], flags).database);
      const restored = await restore(file, database, { isForced: flags.force === true, signal: interruption() });
      const aside = restored.aside === undefined ? "" : `; what was there is now ${restored.aside}`;
      console.log(`${describe(restored)} restored to ${database}${aside}`);
    });
