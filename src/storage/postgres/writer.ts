import { AppError } from "../../domain/error.ts";
import type { Owner, PlantId } from "../../domain/plant.ts";
import type { Commit } from "../storage.ts";

/** Maximum number of queued writes; further ones are refused at once. */
const MAX_QUEUED = 4_096;
/** Maximum number of writes in one statement: a power of two, as the size of every batch (see `split`). */
const MAX_BATCH = 256;

/** `commit` takes a batch of one owner without repeated ids and returns its results in order, `undefined` for "retry". */
export interface WriterOptions<Write, Result> {
  readonly maxBatches: number;
  readonly timeoutMs: number;
  commit(owner: Owner, writes: readonly Write[]): Promise<readonly (Result | undefined)[]>;
  /** Called for each durable batch, after its writes are acknowledged. */
  onCommit(commit: Commit): void;
}

interface QueuedWrite<Write, Result> {
  readonly write: Write;
  isSettled: boolean;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Group commit: writes of one kind that arrive while others are in flight are queued by owner and sent as one statement per
 * owner. Owners take turns, and an owner has one batch in flight. Each write is acknowledged after the commit of its batch; a
 * batch that fails, fails each of its writes.
 */
export class Writer<Write extends { readonly id: PlantId }, Result> {
  readonly #options: WriterOptions<Write, Result>;
  /** By owner, in the order of their turns. */
  readonly #queues = new Map<Owner, QueuedWrite<Write, Result>[]>();
  #queueLength = 0;
  #batchesInFlight = 0;
  /** Owners with a batch in flight. Waiting for it makes the next batch larger, which saves commits. */
  readonly #busy = new Set<Owner>();
  #isStarting = false;
  #onIdle = () => {};

  constructor(options: WriterOptions<Write, Result>) {
    this.#options = options;
  }

  /** Number of writes that are not in a batch yet. */
  get queueLength(): number {
    return this.#queueLength;
  }

  /**
   * Queues a write and resolves with its result once it is durable.
   * @throws AppError `unavailable` when the queue is full, the batch fails or the timeout expires
   */
  run(owner: Owner, write: Write): Promise<Result> {
    if (this.#queueLength >= MAX_QUEUED) {
      const message = `${MAX_QUEUED} writes are queued for the database: try again`;
      return Promise.reject(new AppError("unavailable", message));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const timer = setTimeout(() => {
      settle(() => reject(new AppError("unavailable", "the database did not respond in time: try again")));
    }, this.#options.timeoutMs);
    const settle = (how: () => void) => {
      clearTimeout(timer);
      pending.isSettled = true;
      how();
    };
    const pending: QueuedWrite<Write, Result> = {
      write,
      isSettled: false,
      resolve: (result) => settle(() => resolve(result)),
      reject: (reason) => settle(() => reject(reason)),
    };
    this.#enqueue(owner, [pending]);
    this.#startSoon();
    return promise;
  }

  /** Resolves when all queued writes are settled. */
  async close(): Promise<void> {
    if (this.#queueLength === 0 && this.#batchesInFlight === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #enqueue(owner: Owner, writes: readonly QueuedWrite<Write, Result>[]): void {
    const queue = this.#queues.get(owner);
    if (queue === undefined) this.#queues.set(owner, [...writes]);
    else queue.push(...writes);
    this.#queueLength += writes.length;
  }

  /** Starts batches in the next event-loop tick, so that requests that arrive together share a batch. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.#start();
    });
  }

  #start(): void {
    for (const [owner, queue] of this.#queues) {
      if (this.#batchesInFlight >= this.#options.maxBatches) break;
      if (this.#busy.has(owner)) continue;
      this.#queues.delete(owner);
      this.#queueLength -= queue.length;
      const { batch, rest } = split(queue);
      if (rest.length > 0) this.#enqueue(owner, rest);
      if (batch.length > 0) this.#send(owner, batch);
    }
    if (this.#queueLength === 0 && this.#batchesInFlight === 0) this.#onIdle();
  }

  async #send(owner: Owner, batch: readonly QueuedWrite<Write, Result>[]): Promise<void> {
    this.#batchesInFlight++;
    this.#busy.add(owner);
    const startedMs = performance.now();
    try {
      const results = await this.#options.commit(
        owner,
        batch.map(({ write }) => write),
      );
      const commit = { writes: batch.length, durationMs: performance.now() - startedMs };
      // On a stack of its own: an observer that throws fails no durable write.
      setImmediate(() => this.#options.onCommit(commit));
      for (const [index, pending] of batch.entries()) {
        const result = results[index];
        if (result !== undefined) pending.resolve(result);
        else this.#enqueue(owner, [pending]);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#batchesInFlight--;
    this.#busy.delete(owner);
    this.#startSoon();
  }
}

/**
 * Splits a queue into the next batch and the rest, without the writes whose timeout has expired. The length of a batch is a
 * power of two, so that each connection prepares nine statements of a kind instead of one for every length.
 */
function split<Write extends { readonly id: PlantId }, Result>(queue: readonly QueuedWrite<Write, Result>[]) {
  const ids = new Set<PlantId>();
  const batch: QueuedWrite<Write, Result>[] = [];
  const rest: QueuedWrite<Write, Result>[] = [];
  for (const pending of queue) {
    if (pending.isSettled) continue;
    const isNext = batch.length < MAX_BATCH && !ids.has(pending.write.id);
    ids.add(pending.write.id);
    (isNext ? batch : rest).push(pending);
  }
  const left = batch.splice(2 ** Math.floor(Math.log2(batch.length)));
  return { batch, rest: [...left, ...rest] };
}
