/** A tick is timed from this request on. Most ticks process fewer and pay nothing for the measurement. */
const TIMED_FROM_REQUEST = 20;
/** A tick that takes longer is late. */
const MAX_TICK_MS = 15;
/** Ticks must be late for this long before requests are shed, so that a short pause or burst sheds none. */
const OVERLOAD_GRACE_MS = 50;
/** The grace period restarts after this long without a late tick; a single tick on time does not restart it. */
const RECOVERY_MS = 50;
/** Requests are shed only when a tick has more authenticated ones than this: fewer slow requests delay only each other. */
const MAX_PENDING = 128;
/** A tick that handles this many requests before it is late sheds none, because shedding would save little. */
const FAST_TICK_REQUESTS = 300;

/**
 * Measures the current tick of the event loop and decides which requests to shed. While more than a thousand
 * connections have data to read, Bun reads them up to 48 times before it handles timers, other threads or the disk. So
 * in a late tick, responses wait for the next tick, which keeps their connections from being read again, and new
 * requests may be shed.
 */
export class LoadShedder {
  #requests = 0;
  /** Requests of this tick before it was found to be late. */
  #requestsOnTime: number | undefined;
  #authenticated = 0;
  /** Authenticated requests of the last timed tick. They identify an overload from the first requests of this tick on. */
  #authenticatedInLastTick = 0;
  #timedSinceMs = 0;
  #lateSinceMs = Number.POSITIVE_INFINITY;
  #lateUntilMs = 0;
  #end: PromiseWithResolvers<void> | undefined;

  /** Counts a request. All times are those of `performance.now()`. */
  count(nowMs: number): void {
    this.#requests++;
    if (this.#requests !== TIMED_FROM_REQUEST) return;
    this.#timedSinceMs = nowMs;
    if (nowMs - this.#lateUntilMs > RECOVERY_MS) this.#lateSinceMs = Number.POSITIVE_INFINITY;
    setImmediate(() => this.#finish());
  }

  /** Counts a request that was counted before as authenticated. */
  countAuthenticated(): void {
    this.#authenticated++;
  }

  /** Whether the current tick has taken so long that responses should wait for the next one. */
  isTickLate(nowMs: number): boolean {
    if (this.#requests < TIMED_FROM_REQUEST || nowMs - this.#timedSinceMs <= MAX_TICK_MS) return false;
    this.#requestsOnTime ??= this.#requests;
    return true;
  }

  /** Whether the server is overloaded, so that a new request should get a 503 at once. */
  shouldShed(nowMs: number): boolean {
    if (!this.isTickLate(nowMs) || nowMs - this.#lateSinceMs <= OVERLOAD_GRACE_MS) return false;
    const pending = Math.max(this.#authenticated, this.#authenticatedInLastTick);
    return Number(this.#requestsOnTime) < FAST_TICK_REQUESTS && pending > MAX_PENDING;
  }

  /** Resolves when the current tick has ended. */
  get tickEnd(): Promise<void> {
    this.#end ??= Promise.withResolvers<void>();
    return this.#end.promise;
  }

  #finish(): void {
    const nowMs = performance.now();
    if (this.isTickLate(nowMs)) {
      this.#lateSinceMs = Math.min(this.#lateSinceMs, this.#timedSinceMs);
      this.#lateUntilMs = nowMs;
    }
    this.#authenticatedInLastTick = this.#authenticated;
    this.#authenticated = 0;
    this.#requests = 0;
    this.#requestsOnTime = undefined;
    this.#end?.resolve();
    this.#end = undefined;
  }
}
