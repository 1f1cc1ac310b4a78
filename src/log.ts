import { pino } from "pino";

/** A line that is longer is passed on in parts. */
const MAX_LINE_LENGTH = 1024 * 1024;

/** Which requests get a line: those that fail, or all. Life-cycle events always get one. */
export const LOG_CHOICES = ["failures", "requests"] as const;

/** Two logs of JSON lines, both on standard error. */
export interface Log {
  /** Of the life of the process: written at once. */
  readonly events: pino.Logger;
  /** Of requests: lines are gathered for a moment, so that a flood of failures stays cheap. */
  readonly requests: pino.Logger;
  /** Writes what is gathered; the exit of the process does so too. */
  flush(): void;
}

/** The logs of this process, every line with the number of the worker if it is one; the rest goes out at its exit. */
export function openLog(worker?: number): Log {
  const options = { ...OPTIONS, base: { pid: process.pid, ...(worker === undefined ? {} : { worker }) } };
  const gathering = pino.destination({ fd: 2, sync: true, minLength: 8_192, periodicFlush: 100 });
  const flush = () => gathering.flushSync();
  process.on("exit", flush);
  return {
    events: pino(options, openStandardError()),
    requests: pino(options, gathering),
    flush,
  };
}

/** Standard error, to which each text is written whole before the next one. */
export const openStandardError = () => pino.destination({ fd: 2, sync: true });

/** Passes on what another process logs, in whole lines, so that those of several processes never mix. */
export async function passOnLines(
  log: ReadableStream<Uint8Array>,
  to: { write(text: string): unknown },
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of log) {
    const text = rest + decoder.decode(chunk, { stream: true });
    const end = text.length > MAX_LINE_LENGTH ? text.length : text.lastIndexOf("\n") + 1;
    if (end > 0) to.write(text.slice(0, end));
    rest = text.slice(end);
  }
  if (rest !== "") to.write(`${rest}\n`);
}

const OPTIONS: pino.LoggerOptions = {
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

/** A token of the database, or a part of one. */
const TOKEN = /plt_[0-9A-Za-z]+|[0-9A-Za-z]{36,}/gi;
/**
 * A token of an identity provider if it has a dot. The dot is optional here to keep the search linear: a mandatory one
 * would make it start over at each `ey` of a text without dots.
 */
const MAYBE_JWT = /ey[\w-]{10,}((?:\.|%(?:25)*2e)[\w.%-]*)?/gi;

/** Replaces everything in a client's text that may be a token or part of one, however it is encoded, by `...`. */
export const redact = (text: string): string =>
  text
    .replace(MAYBE_JWT, (match, afterDot: string | undefined) => (afterDot === undefined ? match : "..."))
    .replace(TOKEN, "...");

/** The URL of a database, fit for the log: without user, password and parameters, any of which may be secret. */
export function withoutSecrets(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl;
  const { protocol, host, pathname } = new URL(databaseUrl);
  return `${protocol}//${host}${pathname}`;
}
