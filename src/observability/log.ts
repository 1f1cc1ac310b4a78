import { writeSync } from "node:fs";
import { type Logger, type LoggerOptions, pino, stdTimeFunctions } from "pino";

/** Maximum length of a forwarded line. Longer lines are forwarded in parts. */
const MAX_LINE_LENGTH = 1024 * 1024;

const FLUSH_INTERVAL_MS = 100;
/** Buffered request lines are flushed when they reach this length. */
const MAX_BUFFERED_LENGTH = 8_192;
/** Maximum size of unwritten text; further text is dropped. */
const MAX_UNWRITTEN_BYTES = 1024 * 1024;

/** Two loggers that write JSON lines to standard error. */
export interface Log {
  /** Lifecycle events: written immediately. */
  readonly events: Logger;
  /** Requests: buffered for up to 100 ms, which keeps logging cheap during a flood of failures. */
  readonly requests: Logger;
  /** The destination of both. It is also flushed when the process exits. */
  readonly output: StandardError;
}

/** Opens the loggers of this process. In a worker, every line has its number. */
export function openLog(worker?: number): Log {
  const options: LoggerOptions = {
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    base: { pid: process.pid, worker },
  };
  const output = new StandardError();
  process.on("exit", () => output.flush());
  setInterval(() => output.flush(), FLUSH_INTERVAL_MS).unref();
  return {
    events: pino(options, output),
    requests: pino(options, { write: (text) => output.buffer(text) }),
    output,
  };
}

/**
 * Writes to standard error and never throws. When the terminal is closed, the pipe has no reader or the disk is full,
 * it buffers a bounded amount of text and retries. pino's own destination emits errors and can block the exit forever.
 */
class StandardError {
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
      // A failure to write the log cannot be reported anywhere else.
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
