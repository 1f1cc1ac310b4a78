import type { Log } from "../observability/log.ts";

/** Returns the command line of this program, without arguments. */
export const thisProgram = (): string[] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];

/**
 * Kills the process with SIGKILL on an uncaught error, which leaves it in an unknown state. A normal exit would close the
 * database, which runs a checkpoint although the disk may have lost writes.
 */
export function killOnUncaughtError(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.events.fatal({ err }, event);
      log.output.flush();
      process.kill(process.pid, "SIGKILL");
    });
  }
}
