#!/usr/bin/env bun
import { CommanderError } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { backupCommand } from "./cli/backup.ts";
import { checkCommand } from "./cli/check.ts";
import { command } from "./cli/command.ts";
import { copyCommand } from "./cli/copy.ts";
import { exportCommand } from "./cli/export.ts";
import { importCommand } from "./cli/import.ts";
import { restoreCommand } from "./cli/restore.ts";
import { serveCommand } from "./cli/serve.ts";
import { tokenCommand } from "./cli/token.ts";
import { describeUnknownVariables, UsageError } from "./config/config.ts";

const program = command("plantstore")
  .description(packageJson.description)
  .version(packageJson.version)
  .addCommand(serveCommand())
  .addCommand(tokenCommand())
  .addCommand(importCommand())
  .addCommand(exportCommand())
  .addCommand(copyCommand())
  .addCommand(backupCommand())
  .addCommand(restoreCommand())
  .addCommand(checkCommand())
  .hook("preAction", (_program, action) => {
    // The worker's supervisor has already printed the warnings.
    if (action.opts()["worker"] !== undefined) return;
    for (const problem of describeUnknownVariables()) console.error(`plantstore: warning: ${problem}`);
  });

await program.parseAsync().catch(fail);

/** Prints the error in one line on standard error. Exits with 2 for a usage error, else with 1. */
function fail(error: unknown): never {
  // Commander has already printed the error. It also throws after --help and --version.
  if (error instanceof CommanderError) process.exit(error.exitCode === 0 ? 0 : 2);
  // The reader of the output, such as `head`, has closed the pipe.
  if ((error as { code?: unknown }).code === "EPIPE") process.exit(0);
  console.error(`plantstore: ${error instanceof Error ? error.message : error}`);
  process.exit(error instanceof UsageError ? 2 : 1);
}
