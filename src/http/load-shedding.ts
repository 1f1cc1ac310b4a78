/** A tick is measured from every 20th request on, so that the measurement costs little. */
const MEASURED_FROM_REQUEST = 20;
/** A tick that takes longer is late: writes of other requests wait for its end. */
const MAX_TICK_MS = 15;
/** A tick that takes less per handled request is never overloaded: refusing a request would cost a tenth of this. */
const MAX_MS_PER_REQUEST = 0.05;
/** A tick with at most this many authenticated requests is never overloaded: they delay only each other. */
const MAX_PENDING = 128;
/** Ticks shed this long after an overloaded one. After a longer pause, one tick handles all that has arrived. */
const OVERLOAD_MS = 50;

/**
 * Measures the event-loop ticks. In a late tick, responses wait for its end: while more than a thousand connections have
 * data to read, Bun reads them up to 48 times before it handles timers, other threads or the disk, but it does not read
 * a connection that waits for its response.
 *
 * A tick is overloaded if it is late, slow and has many authenticated requests. Late and slow ticks that follow shed
 * authenticated requests, so that a single pause or burst sheds none.
 */
export class LoadShedder {
  /** Requests of the current tick. */
  #requests = 0;
  #authenticated = 0;
  #shed = 0;
  #startedMs = 0;
  /** The end of the last overloaded tick. */
  #overloadedMs = Number.NEGATIVE_INFINITY;
  #end: PromiseWithResolvers<void> | undefined;

  /** Counts a request. All times are those of `performance.now()`. */
  count(nowMs: number): void {
    this.#requests++;
    if (this.#requests !== MEASURED_FROM_REQUEST) return;
    this.#startedMs = nowMs;
    setImmediate(() => this.#endTick());
  }

  /** Counts an authenticated request that was counted before. Returns whether to refuse it. */
  shed(nowMs: number): boolean {
    this.#authenticated++;
    const isShed = this.#isSlow(nowMs) && this.#startedMs - this.#overloadedMs <= OVERLOAD_MS;
    if (isShed) this.#shed++;
    return isShed;
  }

  /** Returns a promise for the end of the current tick if it is late. */
  lateTickEnd(nowMs: number): Promise<void> | undefined {
    if (!this.#isLate(nowMs)) return undefined;
    this.#end ??= Promise.withResolvers<void>();
    return this.#end.promise;
  }

  #isLate(nowMs: number): boolean {
    return this.#requests >= MEASURED_FROM_REQUEST && nowMs - this.#startedMs > MAX_TICK_MS;
  }

  /** Whether the current tick is late because of requests that are worth shedding. */
  #isSlow(nowMs: number): boolean {
    return this.#isLate(nowMs) && nowMs - this.#startedMs > MAX_MS_PER_REQUEST * (this.#requests - this.#shed);
  }

  #endTick(): void {
    const nowMs = performance.now();
    if (this.#authenticated > MAX_PENDING && this.#isSlow(nowMs)) this.#overloadedMs = nowMs;
    this.#requests = 0;
    this.#authenticated = 0;
    this.#shed = 0;
    this.#end?.resolve();
    this.#end = undefined;
  }
}
