import { AppError } from "../domain/error.ts";
import type { Commit } from "./storage.ts";

/** Maximum number of queued items; further ones are rejected immediately. */
const MAX_QUEUED = 4_096;

const DEFAULTS = { maxBatch: MAX_QUEUED, maxBatches: 1, collectTicks: 1, slowFailureMs: Number.POSITIVE_INFINITY };

/** The result with which `send` queues an item again. */
export const RETRY = Symbol("retry");

/** Divides the queue of one key, oldest first, into the next batch and the rest. */
export type Split<Item> = <Queued extends { readonly item: Item }>(
  queue: readonly Queued[],
  maxBatch: number,
) => { readonly batch: readonly Queued[]; readonly rest: Queued[] };

/** Options of a {@link BatchQueue}. */
export interface BatchQueueOptions<Item, Result> {
  /** Completes the error for a full queue, after the number of items: `writes are queued for the disk`. */
  readonly description: string;
  /** Maximum number of items in a batch; by default, a batch is the whole queue. */
  readonly maxBatch?: number;
  /** Maximum number of batches in flight. */
  readonly maxBatches?: number;
  /** Maximum number of event-loop ticks for which items are collected, while each tick adds some. */
  readonly collectTicks?: number;
  /** Timeout of an item, from the time at which it is queued. */
  readonly timeoutMs?: number;
  /** If a batch fails after more than this time, the queued items fail with it instead of waiting as long again. */
  readonly slowFailureMs?: number;
  /** Items of a batch have the same key, and a key has one batch in flight. */
  keyOf?(item: Item): unknown;
  /** The batch policy; by default, a batch contains the oldest items. */
  readonly split?: Split<Item>;
  /** Sends a batch and resolves with the result of each item, in order. */
  send(batch: readonly Item[]): Promise<readonly (Result | typeof RETRY)[]>;
  /** Called for each batch that succeeded, after its items are settled. */
  onCommit?(commit: Commit): void;
}

interface Queued<Item, Result> {
  readonly item: Item;
  timer: ReturnType<typeof setTimeout> | undefined;
  isExpired: boolean;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Sends items in batches: those that arrive while a batch is in flight form the next one. Batches are sent round-robin by
 * key. If a batch fails, all its items are rejected.
 */
export class BatchQueue<Item, Result> {
  readonly #options;
  /** By key, in round-robin order. */
  readonly #queues = new Map<unknown, Queued<Item, Result>[]>();
  #length = 0;
  /** Keys with a batch in flight. */
  readonly #busy = new Set<unknown>();
  #isCollecting = false;
  #onIdle = () => {};

  constructor(options: BatchQueueOptions<Item, Result>) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Number of items that are not in a batch yet. */
  get length(): number {
    return this.#length;
  }

  /**
   * Queues an item and resolves with its result.
   * @throws AppError `unavailable` when the queue is full or the timeout expires; the error of its batch
   */
  add(item: Item): Promise<Result> {
    const { description, maxBatches, timeoutMs, keyOf } = this.#options;
    if (this.#length >= MAX_QUEUED) {
      return Promise.reject(new AppError("unavailable", `${MAX_QUEUED} ${description}: try again`));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const queued: Queued<Item, Result> = { item, timer: undefined, isExpired: false, resolve, reject };
    if (timeoutMs !== undefined) queued.timer = setTimeout(expire, timeoutMs, queued);
    this.#enqueue(keyOf?.(item), queued);
    if (!this.#isCollecting && this.#busy.size < maxBatches) this.#collect();
    return promise;
  }

  /** Resolves when all items are settled. */
  async close(): Promise<void> {
    if (this.#length === 0 && this.#busy.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #enqueue(key: unknown, queued: Queued<Item, Result>): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, [queued]);
    else queue.push(queued);
    this.#length++;
  }

  /**
   * Collects items until an event-loop tick adds none, `collectTicks` have passed or `maxBatch` is reached, then sends
   * batches. Larger batches need fewer commits.
   */
  async #collect(): Promise<void> {
    const { maxBatch, maxBatches, collectTicks } = this.#options;
    if (this.#isCollecting || this.#busy.size >= maxBatches) return;
    this.#isCollecting = true;
    let before = 0;
    for (let tick = 0; tick < collectTicks && this.#length > before && this.#length < maxBatch; tick++) {
      before = this.#length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isCollecting = false;
    this.#sendBatches();
  }

  #sendBatches(): void {
    const { maxBatch, maxBatches, timeoutMs, split = oldest } = this.#options;
    for (const [key, queue] of this.#queues) {
      if (this.#busy.size >= maxBatches) return;
      if (this.#busy.has(key)) continue;
      const pending = timeoutMs === undefined ? queue : queue.filter(({ isExpired }) => !isExpired);
      const { batch, rest } = split(pending, maxBatch);
      // The key moves to the end of the turns.
      this.#queues.delete(key);
      if (rest.length > 0) this.#queues.set(key, rest);
      this.#length += rest.length - queue.length;
      if (batch.length > 0) this.#send(key, batch);
    }
    if (this.#length === 0 && this.#busy.size === 0) this.#onIdle();
  }

  async #send(key: unknown, batch: readonly Queued<Item, Result>[]): Promise<void> {
    const { send, slowFailureMs, onCommit } = this.#options;
    this.#busy.add(key);
    const startedMs = performance.now();
    try {
      const results = await send(batch.map(({ item }) => item));
      const commit = { writes: batch.length, durationMs: performance.now() - startedMs };
      // Called later, so that an exception in the observer does not reject durable writes.
      if (onCommit !== undefined) setImmediate(() => onCommit(commit));
      this.#settle(key, batch, results);
    } catch (error) {
      fail(batch, error);
      if (performance.now() - startedMs > slowFailureMs) this.#failQueued(error);
    }
    this.#busy.delete(key);
    this.#collect();
  }

  #settle(key: unknown, batch: readonly Queued<Item, Result>[], results: readonly (Result | typeof RETRY)[]): void {
    for (const [index, queued] of batch.entries()) {
      const result = results[index] as Result | typeof RETRY;
      if (result === RETRY) {
        this.#enqueue(key, queued);
      } else {
        if (queued.timer !== undefined) clearTimeout(queued.timer);
        queued.resolve(result);
      }
    }
  }

  #failQueued(error: unknown): void {
    for (const queue of this.#queues.values()) fail(queue, error);
    this.#queues.clear();
    this.#length = 0;
  }
}

function fail<Item, Result>(items: readonly Queued<Item, Result>[], error: unknown): void {
  for (const { timer, reject } of items) {
    clearTimeout(timer);
    reject(error);
  }
}

function expire<Item, Result>(queued: Queued<Item, Result>): void {
  queued.isExpired = true;
  queued.reject(new AppError("unavailable", "the database did not respond in time: try again"));
}

const oldest: Split<unknown> = (queue, maxBatch) => ({ batch: queue.slice(0, maxBatch), rest: queue.slice(maxBatch) });
