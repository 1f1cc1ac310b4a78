import { writeSync } from "node:fs";
import { pino } from "pino";

/** Longer lines are forwarded in parts. */
const MAX_LINE_LENGTH = 1024 * 1024;

const FLUSH_INTERVAL_MS = 100;
/** Buffered request lines are flushed when they reach this length. */
const MAX_BUFFERED_LENGTH = 8_192;
/** Maximum size of unwritten text; further text is dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** Two loggers that write JSON lines to standard error. */
export interface Log {
  /** Lifecycle events: written immediately. */
  readonly events: pino.Logger;
  /** Requests: buffered for up to 100 ms, so that a flood of failures stays cheap. */
  readonly requests: pino.Logger;
  /** Writes all buffered lines. Also runs when the process exits. */
  flush(): void;
}

/** Opens the loggers of this process. In a worker, every line has its number. */
export function openLog(worker?: number): Log {
  const options = { ...OPTIONS, base: { pid: process.pid, ...(worker === undefined ? {} : { worker }) } };
  const standardError = new StandardError();
  const flush = () => standardError.flush();
  process.on("exit", flush);
  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  return {
    events: pino(options, standardError),
    requests: pino(options, { write: (text) => standardError.buffer(text) }),
    flush,
  };
}

/**
 * Writes to standard error and never throws. When the terminal is closed, the pipe has no reader or the disk is full,
 * it keeps a bounded amount of text for the next attempt. pino's own destination emits errors and can block the exit
 * forever.
 */
export class StandardError {
  #text = "";
  /** The unwritten rest of the last flush. */
  #rest = Buffer.alloc(0);

  /** Writes text immediately, after all buffered text. */
  write(text: string): void {
    this.buffer(text);
    this.flush();
  }

  /** Adds text to the buffer. */
  buffer(text: string): void {
    if (this.#rest.length + this.#text.length > MAX_UNWRITTEN_BYTES) return;
    this.#text += text;
    if (this.#text.length >= MAX_BUFFERED_LENGTH) this.flush();
  }

  /** Writes as much buffered text as standard error accepts. */
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

/** Forwards the log of another process in complete lines, so that the lines of several processes do not interleave. */
export async function forwardLines(
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

/** Maximum failed requests logged per second, so that a flood cannot fill the disk or slow other requests. */
const MAX_FAILURES_PER_SECOND = 500;

/** Rate-limits failure log lines and logs the number suppressed once per second. Call the result before each line. */
export function limitFailureLog(log: pino.Logger): () => boolean {
  let count = 0;
  const startPeriod = () => {
    if (count > MAX_FAILURES_PER_SECOND)
      log.warn({ count: count - MAX_FAILURES_PER_SECOND }, "failure log lines suppressed");
    count = 0;
  };
  return () => {
    if (count === 0) setTimeout(startPeriod, 1_000).unref();
    return ++count <= MAX_FAILURES_PER_SECOND;
  };
}

/** Matches a token of this server, or a part of one. */
const TOKEN = /plt_[0-9A-Za-z]+|[0-9A-Za-z]{36,}/gi;
/**
 * Matches a JWT if the match has a dot. The dot is optional in the expression to keep the search linear: if it were
 * required, the search would start over at each `ey` of a text without dots.
 */
const MAYBE_JWT = /ey[\w-]{10,}((?:\.|%(?:25)*2e)[\w.%-]*)?/gi;

/** Replaces everything in client-supplied text that may be a token or part of one, in any encoding, with `...`. */
export const redact = (text: string): string =>
  text
    .replace(MAYBE_JWT, (match, afterDot: string | undefined) => (afterDot === undefined ? match : "..."))
    .replace(TOKEN, "...");
