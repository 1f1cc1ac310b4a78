/** Requests after which a turn is watched: most turns are over before, and cost nothing. */
const WATCHED_AFTER = 20;
/** A turn that takes longer is late. */
const LATE_MS = 15;
/** How long turns must be late before requests are refused: a pause or a burst is no overload. */
const PATIENCE_MS = 50;
/** How long no turn must be late before that begins anew: in a flood one may now and then be in time. */
const CALM_MS = 50;
/** So many clients may all ask for what takes long: they only wait for each other, and none is refused. */
const CROWD = 128;
/** Where as many are answered before the turn is late, one more costs little more to answer than to refuse. */
const MANY = 300;

/**
 * The turn of the event loop that is on. As long as more than a thousand connections have something to read, Bun goes
 * on reading them, up to 48 times, before it turns to anything else: timers, other threads, the disk. So in a late turn
 * no connection may be answered and read again, and what comes late in it may be refused.
 */
export class Turn {
  #requests = 0;
  /** Of these, how many there were when the turn was found to be late. */
  #requestsInTime: number | undefined;
  /** Of the last turn that was watched: a crowd is known by its first requests then. */
  #requestsInLastTurn = 0;
  #watchedSinceMs = 0;
  #lateSinceMs = Number.POSITIVE_INFINITY;
  #lateUntilMs = 0;
  #end: PromiseWithResolvers<void> | undefined;

  /** Counts a request. The time is one of `performance.now()`, here and below. */
  count(nowMs: number): void {
    this.#requests++;
    if (this.#requests !== WATCHED_AFTER) return;
    this.#watchedSinceMs = nowMs;
    if (nowMs - this.#lateUntilMs > CALM_MS) this.#lateSinceMs = Number.POSITIVE_INFINITY;
    setImmediate(() => this.#finish());
  }

  /** Whether the turn has taken so long that what is left of it had better wait for the next. */
  isLate(nowMs: number): boolean {
    if (this.#requests < WATCHED_AFTER || nowMs - this.#watchedSinceMs <= LATE_MS) return false;
    this.#requestsInTime ??= this.#requests;
    return true;
  }

  /** Whether so many have been waiting for so long that a request had better be refused at once. */
  isHopeless(nowMs: number): boolean {
    if (!this.isLate(nowMs) || nowMs - this.#lateSinceMs <= PATIENCE_MS) return false;
    return Number(this.#requestsInTime) < MANY && Math.max(this.#requests, this.#requestsInLastTurn) > CROWD;
  }

  /** Resolves when the turn is over. */
  get end(): Promise<void> {
    this.#end ??= Promise.withResolvers<void>();
    return this.#end.promise;
  }

  #finish(): void {
    const nowMs = performance.now();
    if (this.isLate(nowMs)) {
      this.#lateSinceMs = Math.min(this.#lateSinceMs, this.#watchedSinceMs);
      this.#lateUntilMs = nowMs;
    }
    this.#requestsInLastTurn = this.#requests;
    this.#requests = 0;
    this.#requestsInTime = undefined;
    this.#end?.resolve();
    this.#end = undefined;
  }
}
