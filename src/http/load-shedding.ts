/** The measurement of a tick starts with every 20th request, so that it costs little. */
const MEASURED_FROM_REQUEST = 20;
/** Maximum duration of a tick that is not long. Writes of other requests wait for the end of a tick. */
const MAX_TICK_MS = 15;
/** A tick that takes less per handled request is never overloaded. Rejecting a request costs a tenth of this. */
const MAX_MS_PER_REQUEST = 0.05;
/** A tick with at most this many authenticated requests is never overloaded: they delay only each other. */
const MAX_PENDING = 128;
/** Ticks shed for this time after an overloaded one. After a longer pause, one tick handles all that has arrived. */
const OVERLOAD_MS = 50;

/**
 * Measures the event-loop ticks. In a long tick, responses are held until its end: while more than a thousand connections
 * have data to read, Bun reads them up to 48 times before it handles timers, other threads or the disk, but it does not
 * read a connection whose response is held.
 *
 * A tick is overloaded if it is long, slow and has many authenticated requests. The long and slow ticks after it shed
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
  #tickEnd: PromiseWithResolvers<void> | undefined;

  /** Counts a request. All times are those of `performance.now()`. */
  count(nowMs: number): void {
    this.#requests++;
    if (this.#requests !== MEASURED_FROM_REQUEST) return;
    this.#startedMs = nowMs;
    setImmediate(() => this.#endTick());
  }

  /** Counts a request as authenticated. Returns whether to reject it. */
  shouldShed(nowMs: number): boolean {
    this.#authenticated++;
    const isShed = this.#isSlow(nowMs) && this.#startedMs - this.#overloadedMs <= OVERLOAD_MS;
    if (isShed) this.#shed++;
    return isShed;
  }

  /** Returns a promise for the end of the current tick if it is long. */
  longTickEnd(nowMs: number): Promise<void> | undefined {
    if (!this.#isLong(nowMs)) return undefined;
    this.#tickEnd ??= Promise.withResolvers<void>();
    return this.#tickEnd.promise;
  }

  #isLong(nowMs: number): boolean {
    return this.#requests >= MEASURED_FROM_REQUEST && nowMs - this.#startedMs > MAX_TICK_MS;
  }

  /** Returns whether the current tick is long and its requests cost enough to shed them. */
  #isSlow(nowMs: number): boolean {
    return this.#isLong(nowMs) && nowMs - this.#startedMs > MAX_MS_PER_REQUEST * (this.#requests - this.#shed);
  }

  #endTick(): void {
    const nowMs = performance.now();
    if (this.#authenticated > MAX_PENDING && this.#isSlow(nowMs)) this.#overloadedMs = nowMs;
    this.#requests = 0;
    this.#authenticated = 0;
    this.#shed = 0;
    this.#tickEnd?.resolve();
    this.#tickEnd = undefined;
  }
}
