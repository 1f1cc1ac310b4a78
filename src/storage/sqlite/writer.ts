import { AppError } from "../../domain/error.ts";
import { BatchQueue } from "../batch-queue.ts";
import type { Commit } from "../storage.ts";
import { DEADLINE_TICKS, startDeadline } from "./deadline.ts";
import { toAppError } from "./errors.ts";
import type { OpenFile } from "./open-files.ts";
import type { Versions } from "./versions.ts";
import type { Loss, Reply, Request } from "./writer-thread.ts";
import type { Write, WriteResult } from "./writes.ts";

/** Maximum number of writes in one transaction, which bounds the wait of the next batch. */
const MAX_BATCH = 1_024;
/** Maximum number of event-loop ticks in which a batch collects writes. Most writes follow the last acknowledgements. */
const COLLECT_TICKS = 8;
/** Time for the last responses to be sent before the process ends. */
const LAST_RESPONSES_MS = 100;

interface WriterOptions {
  /** Updated before a batch is sent and when its outcome is final. */
  readonly versions: Versions;
  /** Called for each durable batch, after its writes are acknowledged. */
  onCommit(commit: Commit): void;
}

/**
 * Group commit: sends queued writes to the writer thread in batches, one after another. A write is acknowledged after the
 * commit of its batch.
 */
export class Writer {
  readonly #thread: Worker;
  readonly #versions: Versions;
  readonly #queue: BatchQueue<Write, WriteResult>;
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

  private constructor(thread: Worker, { versions, onCommit }: WriterOptions) {
    this.#thread = thread;
    this.#versions = versions;
    this.#queue = new BatchQueue({
      description: "writes are queued for the disk",
      maxBatch: MAX_BATCH,
      collectTicks: COLLECT_TICKS,
      send: (batch) => this.#commit(batch),
      onCommit,
    });
    thread.onmessage = ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as Reply | Loss;
      if ("loss" in message) this.#fail(message.loss);
      else this.#onReply(message);
    };
    thread.addEventListener("close", () => this.#fail("the writer thread ended unexpectedly"));
    thread.onerror = ({ message }) => this.#fail(`the writer thread failed: ${message}`);
  }

  /** Number of writes that are not in a batch yet. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /**
   * Queues a write and resolves with its result once it is durable.
   * @throws AppError `unavailable` when the queue is full or the batch fails
   */
  run<W extends Write>(write: W): Promise<WriteResult<W["kind"]>> {
    return this.#queue.add(write) as Promise<WriteResult<W["kind"]>>;
  }

  /** Commits the queued writes, checkpoints the WAL and ends the thread. */
  async close(): Promise<void> {
    await this.#queue.close();
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

  async #commit(batch: readonly Write[]): Promise<readonly WriteResult[]> {
    this.#versions.begin(batch);
    try {
      return await this.#request({ batch });
    } finally {
      // After a failure, the thread may still commit.
      if (!this.#isClosed) this.#versions.end();
    }
  }

  /** Sends a request to the thread and resolves with its results. At most one request is in flight. */
  async #request(request: Request): Promise<readonly WriteResult[]> {
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
