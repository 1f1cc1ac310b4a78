import { readConfig } from "../config.ts";
import { backUp } from "../storage/sqlite/backup.ts";
import { command } from "./command.ts";
import { describe, interruption, requireSqlite } from "./maintenance.ts";

/** `plantstore backup FILE` */
export const backupCommand = () =>
  command("backup", ["database"])
    .summary("copy the database while a server runs on it")
    .description(
      "Copies a SQLite database, plants and tokens, into a new file that only you may read: one moment of it, compact, and looked through before it gets its name. A server may run on it meanwhile and is not held up.",
    )
    .argument("<file>", "file to make; it must not be there yet")
    .action(async (file: string, flags) => {
      const copied = await backUp(requireSqlite("backup", readConfig(["database"], flags).database), file, {
        signal: interruption(),
      });
      console.log(`${describe(copied)} backed up: ${copied.bytes} bytes`);
    });
