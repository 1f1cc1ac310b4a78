import { isatty } from "node:tty";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";

/** Minimum time between the first stop signal and one that forces the exit: npm sends the SIGINT of a Ctrl-C twice. */
const FORCE_AFTER_MS = 1_000;
/** Time for a slow disk, added to `--drain` and `--stop-timeout`, before the exit is forced. */
const STOP_GRACE_MS = 5_000;

/** Whether this process was started in a terminal. Read at the start: `isatty` is false for a terminal that was closed. */
const HAS_TERMINAL = isatty(0) || isatty(2);

/** Handles stop signals: resolves at the first one, and exits with 1 at one that comes a second or more later. */
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

/** Calls `reload` on SIGHUP. In a process that was started in a terminal, SIGHUP is a stop signal instead. */
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
