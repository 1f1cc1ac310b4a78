import { isatty } from "node:tty";
import type { Config } from "../config/config.ts";
import type { Log } from "../observability/log.ts";
import { signInLink } from "./sign-in-link.ts";

/** Time beyond the settings before a shutdown is forced, for a slow disk. */
const STOP_GRACE_MS = 5_000;

/** The URL of a server that is ready, and the first token if it was just created. */
export interface Announcement {
  readonly url: string;
  readonly secret?: string | undefined;
}

/** Prints the URL of the server and, on the first start, the token with a sign-in link and a `curl` command. */
export function announce({ url, secret }: Announcement): void {
  console.log(`Plant Store is ready at ${url}${secret === undefined ? "" : introduce(secret, url)}`);
}

const introduce = (secret: string, url: string): string => `

This token is for the owner "default". It is shown only once; create others with "token create".

  ${secret}

Open this link to use the web page, or use curl:

  ${signInLink(url, secret)}

  curl ${url}/plants -H "Authorization: Bearer ${secret}" -H "Content-Type: application/json" -d '{"id": 1, "name": "Clarkia", "tag": "annual"}'
`;

/** A stop signal forces the exit when it comes this long after the first one: npm doubles the SIGINT of a Ctrl-C. */
const FORCE_AFTER_MS = 1_000;

/** Whether a terminal started this process. Read at the start, because a terminal that is gone no longer answers. */
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

/** The command line of this program, without arguments. */
export const thisProgram = (): string[] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main];

/** Forces the exit when a shutdown takes longer than its settings allow. */
export function forceExitAfterTimeout({ drain, stopTimeout }: Config<"drain" | "stopTimeout">): void {
  setTimeout(() => process.exit(1), drain + stopTimeout + STOP_GRACE_MS).unref();
}

/**
 * Ends the process with SIGKILL after an uncaught error, which leaves it in an unknown state. A normal exit would close the
 * databases, which is a checkpoint, and the disk may have lost writes.
 */
export function endOnUncaughtError(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (err: unknown) => {
      log.events.fatal({ err }, event);
      log.flush();
      process.kill(process.pid, "SIGKILL");
    });
  }
}
