import { writeSync } from "node:fs";
import { pino } from "pino";

/** A line that is longer is passed on in parts. */
const MAX_LINE_LENGTH = 1024 * 1024;

const FLUSH_EVERY_MS = 100;
/** Lines of requests are written together, at the latest when they are this long. */
const MAX_GATHERED_LENGTH = 8_192;
/** The limit on text that could not be written; more is dropped. */
const MAX_KEPT_BYTES = 1024 * 1024;

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

/** Opens the logs of this process; every line has the number of the worker, if it is one. */
export function openLog(worker?: number): Log {
  const options = { ...OPTIONS, base: { pid: process.pid, ...(worker === undefined ? {} : { worker }) } };
  const standardError = new StandardError();
  const flush = () => standardError.flush();
  process.on("exit", flush);
  setInterval(flush, FLUSH_EVERY_MS).unref();
  return {
    events: pino(options, standardError),
    requests: pino(options, { write: (text) => standardError.gather(text) }),
    flush,
  };
}

/**
 * Writes to standard error and never throws: when a terminal is gone, a pipe has no reader or a disk is full, it keeps a
 * bounded amount of text for the next attempt. pino's own destination emits errors, and waits forever at the exit.
 */
export class StandardError {
  #text = "";
  /** What was left of the last write. */
  #rest = Buffer.alloc(0);

  /** Writes this text, after all that was gathered. */
  write(text: string): void {
    this.gather(text);
    this.flush();
  }

  /** Adds this text to what the next flush writes. */
  gather(text: string): void {
    if (this.#rest.length + this.#text.length > MAX_KEPT_BYTES) return;
    this.#text += text;
    if (this.#text.length >= MAX_GATHERED_LENGTH) this.flush();
  }

  /** Writes as much as standard error takes. */
  flush(): void {
    if (this.#text !== "") this.#rest = Buffer.concat([this.#rest, Buffer.from(this.#text)]);
    this.#text = "";
    try {
      while (this.#rest.length > 0) this.#rest = this.#rest.subarray(writeSync(2, this.#rest));
    } catch {
      // There is no other place to report it.
    }
  }
}

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
