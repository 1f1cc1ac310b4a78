import { AppError } from "../../domain/error.ts";
import type { Commit } from "../storage.ts";
import { DEADLINE_TICKS, startDeadline } from "./deadline.ts";
import { toAppError } from "./failures.ts";
import type { OpenFile } from "./open-files.ts";
import type { Revisions } from "./revisions.ts";
import type { Loss, Reply, Request } from "./writer-thread.ts";
import type { Write, Writes } from "./writes.ts";

/** Writes that may wait while a group is on its way to the disk; one more is refused at once. */
const MAX_WAITING = 4_096;
/** Writes that one transaction takes, so that no group keeps the next one waiting for long. */
const MAX_GROUP = 1_024;
/** Turns of the event loop that a group may gather for, while each brings more writes. */
const MAX_GATHERING_TURNS = 8;
/** How long the answers to what waits may take to leave, before the process ends. */
const LAST_ANSWERS_MS = 100;

interface Pending {
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
 * Group commit: the writes that arrive while the thread commits wait, then go together as the next group.
 * Each is answered after the commit of its group; a group that fails, fails every one of its writes.
 */
export class Writer {
  readonly #thread: Worker;
  readonly #options: WriterOptions;
  #waiting: Pending[] = [];
  #draining: Promise<void> | undefined;
  #answer: (reply: Reply) => void = () => {};
  #isClosed = false;

  /** Starts the thread and lets it open the database at `path`, of which `files` are open already. */
  static async open(path: string, files: readonly OpenFile[], options: WriterOptions): Promise<Writer> {
    const writer = new Writer(new Worker(new URL("./writer-thread.ts", import.meta.url).href), options);
    try {
      await writer.#ask({ open: path, files });
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
      if ("loss" in message) this.#end(message.loss);
      else this.#answer(message);
    };
    thread.addEventListener("close", () => this.#end("the thread that writes has ended: it closed"));
    thread.onerror = ({ message }) => this.#end(`the thread that writes has ended: ${message}`);
  }

  /** Writes that wait for their group to leave. */
  get waitingLength(): number {
    return this.#waiting.length;
  }

  /** Does one write and resolves with its result once it is durable. */
  run<N extends keyof Writes>(name: N, ...args: Parameters<Writes[N]>): Promise<ReturnType<Writes[N]>> {
    if (this.#waiting.length >= MAX_WAITING) {
      const message = `${MAX_WAITING} writes are waiting for the disk already: try again`;
      return Promise.reject(new AppError("unavailable", message));
    }
    const { promise, resolve, reject } = Promise.withResolvers<ReturnType<Writes[N]>>();
    const write = [name, ...args] as unknown as Write;
    this.#waiting.push({ write, resolve: resolve as (result: unknown) => void, reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Finishes what was accepted, writes the log back into the database file and ends the thread. */
  async close(): Promise<void> {
    await this.#draining;
    await this.#ask({ close: true }).catch((error: unknown) => {
      // After a loss `#end` ends the process: an ordinary exit would close the database, which is a checkpoint.
      if (this.#isClosed) return new Promise<never>(() => {});
      throw error;
    });
    this.#isClosed = true;
    this.#thread.terminate();
  }

  /** Nothing can be written any more: what waits is answered, then that is a fault of the whole process. */
  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#answer({ failure: { code: "SQLITE_IOERR", message: reason } });
    setTimeout(() => {
      throw new Error(reason);
    }, LAST_ANSWERS_MS);
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      const group = this.#waiting.slice(0, MAX_GROUP);
      this.#waiting = this.#waiting.slice(MAX_GROUP);
      await this.#commit(group);
    }
    this.#draining = undefined;
  }

  /** Sends one batch and settles its writes. */
  async #commit(batch: readonly Pending[]): Promise<void> {
    const { revisions, onCommit } = this.#options;
    const writes = batch.map(({ write }) => write);
    const startedMs = performance.now();
    revisions.begin(writes);
    try {
      const results = await this.#ask({ group: writes });
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
   * Lets the requests come in that arrive together, most of them in reply to the last answers: the fuller the groups,
   * the fewer there are to commit. One write alone waits for one turn.
   */
  async #gather(): Promise<void> {
    let before = 0;
    for (let turn = 0; turn < MAX_GATHERING_TURNS; turn++) {
      if (this.#waiting.length === before || this.#waiting.length >= MAX_GROUP) return;
      before = this.#waiting.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async #ask(request: Request): Promise<readonly unknown[]> {
    if (this.#isClosed) throw new AppError("unavailable", "the server is stopping: try again");
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const cancelDeadline = startDeadline(() => this.#end(`the disk has not responded for ${DEADLINE_TICKS} seconds`));
    this.#answer = resolve;
    this.#thread.postMessage(JSON.stringify(request));
    const reply = await promise;
    cancelDeadline();
    if ("failure" in reply) throw toAppError(reply.failure.code, reply.failure);
    return reply.results;
  }
}
