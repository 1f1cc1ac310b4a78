import { AppError } from "../../domain/error.ts";
import type { Commit } from "../storage.ts";
import { DEADLINE_TICKS, startDeadline } from "./deadline.ts";
import { toAppError } from "./failures.ts";
import type { OpenFile } from "./open-files.ts";
import type { Revisions } from "./revisions.ts";
import type { Loss, Reply, Request } from "./writer-thread.ts";
import type { Write, Writes } from "./writes.ts";

/** Maximum number of queued writes; further ones are refused at once. */
const MAX_QUEUED = 4_096;
/** Maximum number of writes in one transaction, which bounds how long the next batch waits. */
const MAX_BATCH = 1_024;
/** Maximum number of event-loop ticks that a batch collects writes for, while each tick adds some. */
const MAX_COLLECTING_TICKS = 8;
/** Time for the last responses to be sent before the process ends. */
const LAST_RESPONSES_MS = 100;

interface QueuedWrite {
  readonly write: Write;
  resolve(result: unknown): void;
  reject(reason: AppError): void;
}

interface WriterOptions {
  /** Notified when a batch is sent and when its outcome is known. */
  readonly revisions: Revisions;
  /** Called for each durable batch, after its writes are acknowledged. */
  onCommit(commit: Commit): void;
}

/**
 * Group commit: the writes that arrive while the writer thread commits a batch are queued and form the next batch. Each is
 * acknowledged after the commit of its batch; a batch that fails, fails each of its writes.
 */
export class Writer {
  readonly #thread: Worker;
  readonly #options: WriterOptions;
  #queue: QueuedWrite[] = [];
  #flushing: Promise<void> | undefined;
  #onReply: (reply: Reply) => void = () => {};
  #isClosed = false;

  /** Starts the writer thread, which opens the database at `path`; `files` are its files as this thread opened them. */
  static async open(path: string, files: readonly OpenFile[], options: WriterOptions): Promise<Writer> {
    const writer = new Writer(new Worker(new URL("./writer-thread.ts", import.meta.url).href), options);
    try {
      await writer.#request({ open: path, files });
      return writer;
    } catch (error) {
      writer.#isClosed = true;
      writer.#thread.terminate();
      throw error;
    }
  }

  private constructor(thread: Worker, options: WriterOptions) {
    this.#thread = thread;
    this.#options = options;
    thread.onmessage = ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as Reply | Loss;
      if ("loss" in message) this.#fail(message.loss);
      else this.#onReply(message);
    };
    thread.addEventListener("close", () => this.#fail("the writer thread has ended: it closed"));
    thread.onerror = ({ message }) => this.#fail(`the writer thread has ended: ${message}`);
  }

  /** Number of writes that are not in a batch yet. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /**
   * Queues a write and resolves with its result once it is durable.
   * @throws AppError `unavailable` when the queue is full or the batch fails
   */
  run<N extends keyof Writes>(name: N, ...args: Parameters<Writes[N]>): Promise<ReturnType<Writes[N]>> {
    if (this.#queue.length >= MAX_QUEUED) {
      const message = `${MAX_QUEUED} writes are queued for the disk: try again`;
      return Promise.reject(new AppError("unavailable", message));
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Writes[N]>>();
    const write = [name, ...args] as unknown as Write;
    this.#queue.push({ write, resolve: resolve as (result: unknown) => void, reject });
    this.#flushing ??= this.#flush();
    return promise;
  }

  /** Commits the queued writes, checkpoints the WAL and ends the thread. */
  async close(): Promise<void> {
    await this.#flushing;
    await this.#request({ close: true }).catch((error: unknown) => {
      // After a loss `#fail` ends the process: an ordinary exit would close the database, which is a checkpoint.
      if (this.#isClosed) return new Promise<never>(() => {});
      throw error;
    });
    this.#isClosed = true;
    this.#thread.terminate();
  }

  /** Rejects the batch in flight and the queue, then ends the process with an uncaught error: no write can succeed any more. */
  #fail(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onReply({ failure: { code: "SQLITE_IOERR", message: reason } });
    setTimeout(() => {
      throw new Error(reason);
    }, LAST_RESPONSES_MS);
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#collect();
      const batch = this.#queue.slice(0, MAX_BATCH);
      this.#queue = this.#queue.slice(MAX_BATCH);
      await this.#commit(batch);
    }
    this.#flushing = undefined;
  }

  /** Sends one batch and settles its writes. */
  async #commit(batch: readonly QueuedWrite[]): Promise<void> {
    const { revisions, onCommit } = this.#options;
    const writes = batch.map(({ write }) => write);
    const startedMs = performance.now();
    revisions.begin(writes);
    try {
      const results = await this.#request({ batch: writes });
      revisions.end();
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]);
    } catch (error) {
      // A thread that was given up may still commit.
      if (!this.#isClosed) revisions.end();
      for (const { reject } of batch) reject(error as AppError);
      return;
    }
    const commit = { writes: batch.length, durationMs: performance.now() - startedMs };
    // On a stack of its own: an observer that throws fails no durable write.
    setImmediate(() => onCommit(commit));
  }

  /**
   * Waits while each event-loop tick queues more writes, most of which follow the last acknowledgements: larger batches mean
   * fewer commits. A single write waits for one tick.
   */
  async #collect(): Promise<void> {
    let before = 0;
    for (let tick = 0; tick < MAX_COLLECTING_TICKS; tick++) {
      if (this.#queue.length === before || this.#queue.length >= MAX_BATCH) return;
      before = this.#queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Sends one request to the thread and resolves with its results. There is at most one at a time. */
  async #request(request: Request): Promise<readonly unknown[]> {
    if (this.#isClosed) throw new AppError("unavailable", "the server is stopping: try again");
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const cancelDeadline = startDeadline(() => this.#fail(`the disk has not responded for ${DEADLINE_TICKS} seconds`));
    this.#onReply = resolve;
    this.#thread.postMessage(JSON.stringify(request));
    const reply = await promise;
    cancelDeadline();
    if ("failure" in reply) throw toAppError(reply.failure.code, reply.failure);
    return reply.results;
  }
}
