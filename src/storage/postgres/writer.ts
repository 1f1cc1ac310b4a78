import { AppError } from "../../domain/error.ts";
import type { Owner, PlantId } from "../../domain/plant.ts";
import type { Commit } from "../storage.ts";

/** Writes that may wait while groups are on their way to the server; one more is refused at once. */
const MAX_WAITING = 4_096;
/** Writes that one statement takes: a power of two, as all groups are (see `split`). */
const MAX_GROUP = 256;

/** `commit` takes a group of one owner, no id twice, and returns its results in order, `undefined` for "again". */
export interface WriterOptions<Write, Result> {
  readonly maxGroups: number;
  readonly timeoutMs: number;
  commit(owner: Owner, writes: readonly Write[]): Promise<readonly (Result | undefined)[]>;
  /** Called for each durable batch, after its writes are acknowledged. */
  onCommit(commit: Commit): void;
}

interface Pending<Write, Result> {
  readonly write: Write;
  isSettled: boolean;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Group commit: writes of one kind that arrive while others are on their way wait, then go as one statement for each
 * owner, an owner's one after the other, the owners taking turns. Each is answered after the commit of its group; a
 * group that fails, fails every one of its writes.
 */
export class Writer<Write extends { readonly id: PlantId }, Result> {
  readonly #options: WriterOptions<Write, Result>;
  /** By owner, the owner whose turn it is first. */
  readonly #waiting = new Map<Owner, Pending<Write, Result>[]>();
  #waitingLength = 0;
  #groups = 0;
  /** Owners with a group on its way: the next one is the larger for it, which costs a commit less. */
  readonly #busy = new Set<Owner>();
  #isStarting = false;
  #onIdle = () => {};

  constructor(options: WriterOptions<Write, Result>) {
    this.#options = options;
  }

  /** Writes that wait for their group to leave. */
  get waitingLength(): number {
    return this.#waitingLength;
  }

  /** Does one write and resolves with its result once it is durable. */
  run(owner: Owner, write: Write): Promise<Result> {
    if (this.#waitingLength >= MAX_WAITING) {
      const message = `${MAX_WAITING} writes are waiting for the database already: try again`;
      return Promise.reject(new AppError("unavailable", message));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const timer = setTimeout(() => {
      settle(() => reject(new AppError("unavailable", "the database did not answer in time: try again")));
    }, this.#options.timeoutMs);
    const settle = (how: () => void) => {
      clearTimeout(timer);
      pending.isSettled = true;
      how();
    };
    const pending: Pending<Write, Result> = {
      write,
      isSettled: false,
      resolve: (result) => settle(() => resolve(result)),
      reject: (reason) => settle(() => reject(reason)),
    };
    this.#enqueue(owner, [pending]);
    this.#startSoon();
    return promise;
  }

  /** Resolves when all writes that were accepted are settled. */
  async close(): Promise<void> {
    if (this.#waitingLength === 0 && this.#groups === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #enqueue(owner: Owner, writes: readonly Pending<Write, Result>[]): void {
    const queue = this.#waiting.get(owner);
    if (queue === undefined) this.#waiting.set(owner, [...writes]);
    else queue.push(...writes);
    this.#waitingLength += writes.length;
  }

  /** Lets the requests that arrived together come in before their group leaves. */
  #startSoon(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    setImmediate(() => {
      this.#isStarting = false;
      this.#start();
    });
  }

  #start(): void {
    for (const [owner, queue] of this.#waiting) {
      if (this.#groups >= this.#options.maxGroups) break;
      if (this.#busy.has(owner)) continue;
      this.#waiting.delete(owner);
      this.#waitingLength -= queue.length;
      const { group, rest } = split(queue);
      if (rest.length > 0) this.#enqueue(owner, rest);
      if (group.length > 0) this.#send(owner, group);
    }
    if (this.#waitingLength === 0 && this.#groups === 0) this.#onIdle();
  }

  async #send(owner: Owner, group: readonly Pending<Write, Result>[]): Promise<void> {
    this.#groups++;
    this.#busy.add(owner);
    const startedMs = performance.now();
    try {
      const results = await this.#options.commit(
        owner,
        group.map(({ write }) => write),
      );
      const commit = { writes: group.length, durationMs: performance.now() - startedMs };
      // On a stack of its own: an observer that throws fails no durable write.
      setImmediate(() => this.#options.onCommit(commit));
      for (const [index, pending] of group.entries()) {
        const result = results[index];
        if (result !== undefined) pending.resolve(result);
        else this.#enqueue(owner, [pending]);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#groups--;
    this.#busy.delete(owner);
    this.#startSoon();
  }
}

/**
 * The next group of a queue and what stays; writes that ran out of time while they waited are in neither. The length of
 * a group is a power of two, so that the server prepares nine statements of a kind for each connection instead of one
 * for every length.
 */
function split<Write extends { readonly id: PlantId }, Result>(queue: readonly Pending<Write, Result>[]) {
  const ids = new Set<PlantId>();
  const group: Pending<Write, Result>[] = [];
  const rest: Pending<Write, Result>[] = [];
  for (const pending of queue) {
    if (pending.isSettled) continue;
    const isNext = group.length < MAX_GROUP && !ids.has(pending.write.id);
    ids.add(pending.write.id);
    (isNext ? group : rest).push(pending);
  }
  const left = group.splice(2 ** Math.floor(Math.log2(group.length)));
  return { group, rest: [...left, ...rest] };
}
