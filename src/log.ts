import { pino } from "pino";

/** Which requests get a line: those that fail, or all. Life-cycle events always get one. */
export const LOG_CHOICES = ["failures", "requests"] as const;

export type Log = pino.Logger;

/** A log of JSON lines on standard error. Lines are gathered for a moment, so that a flood of failures stays cheap. */
export function openLog(): Log {
  const destination = pino.destination({ fd: 2, sync: true, minLength: 8_192, periodicFlush: 100 });
  process.on("exit", () => destination.flushSync());
  return pino(
    {
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  );
}

/** Text from a client, fit for the log: whatever looks like a token is taken out. */
export const redact = (text: string): string => text.replace(/plt_[0-9A-Za-z]+/g, "plt_...");
