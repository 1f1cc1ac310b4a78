import { isatty } from "node:tty";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";

/** A stop signal forces the exit when it comes this long after the first one: npm doubles the SIGINT of a Ctrl-C. */
const FORCE_AFTER_MS = 1_000;
/** Time beyond the settings before a shutdown is forced, for a slow disk. */
const STOP_GRACE_MS = 5_000;

/** Whether a terminal started this process. Read at the start, because a closed terminal no longer counts as one. */
const HAS_TERMINAL = isatty(0) || isatty(2);

/** Resolves at the first stop signal; one that comes a second or more later ends the process with exit code 1. */
export function stopSignal(now = () => performance.now()): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let firstMs: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT", ...(HAS_TERMINAL ? ["SIGHUP" as const] : [])] as const) {
    process.on(signal, () => {
      firstMs ??= now();
      if (now() - firstMs >= FORCE_AFTER_MS) process.exit(1);
      resolve(signal);
    });
  }
  return promise;
}

/** Calls `reload` on SIGHUP, unless a terminal started this process: then SIGHUP is a stop signal. */
export function onReload(reload: () => void): void {
  if (!HAS_TERMINAL) process.on("SIGHUP", reload);
}

/** Waits for the stop signal. Forces the exit when the shutdown takes longer than its settings allow. */
export async function waitForStop(
  stopping: Promise<string>,
  { drain, stopTimeout }: Config<"drain" | "stopTimeout">,
  log: Log["events"],
): Promise<void> {
  log.info({ signal: await stopping }, "stopping");
  setTimeout(() => process.exit(1), drain + stopTimeout + STOP_GRACE_MS).unref();
}
