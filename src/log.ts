import { pino } from "pino";

/** Which requests get a line: those that fail, or all. Life-cycle events always get one. */
export const LOG_CHOICES = ["failures", "requests"] as const;

/** Two logs of JSON lines, both on standard error. */
export interface Log {
  /** Of the life of the process: written at once. */
  readonly events: pino.Logger;
  /** Of requests: lines are gathered for a moment, so that a flood of failures stays cheap. */
  readonly requests: pino.Logger;
}

/** The logs of this process; what is gathered goes out when it exits. */
export function openLog(): Log {
  const gathering = pino.destination({ fd: 2, sync: true, minLength: 8_192, periodicFlush: 100 });
  process.on("exit", () => gathering.flushSync());
  return {
    events: pino(OPTIONS, pino.destination({ fd: 2, sync: true })),
    requests: pino(OPTIONS, gathering),
  };
}

const OPTIONS: pino.LoggerOptions = {
  base: { pid: process.pid },
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level) => ({ level }) },
};

/** Lines that failed requests may get in a second: a flood of them costs neither the disk nor the others' time. */
const MAX_FAILURES_A_SECOND = 500;

/** Says whether one more failure may have its line; how many had none is told in a line of its own, each second. */
export function limitFailures(log: pino.Logger): () => boolean {
  let count = 0;
  const startAnew = () => {
    if (count > MAX_FAILURES_A_SECOND)
      log.warn({ count: count - MAX_FAILURES_A_SECOND }, "more failures without a line");
    count = 0;
  };
  return () => {
    if (count === 0) setTimeout(startAnew, 1_000).unref();
    return ++count <= MAX_FAILURES_A_SECOND;
  };
}

/** Text from a client, fit for the log: whatever may be a token is taken out, however it is encoded. */
export const redact = (text: string): string => text.replace(/plt_[0-9A-Za-z]+|[0-9A-Za-z]{36,}/g, "...");

/** The URL of a database, fit for the log: without user, password and parameters, any of which may be secret. */
export function withoutSecrets(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl;
  const { protocol, host, pathname } = new URL(databaseUrl);
  return `${protocol}//${host}${pathname}`;
}
