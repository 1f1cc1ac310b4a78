import { HttpError } from "./errors.ts";

/** How much is allowed in a window of time. */
export interface Quota {
  /** 1 or more. */
  readonly amount: number;
  /** Whole seconds, in milliseconds. */
  readonly windowMs: number;
}

/** Keys counted at a time; beyond, everything is forgotten: a flood of keys costs neither memory nor a good client. */
const MAX_KEYS = 100_000;

/**
 * Lets each key have a quota, all of it at once or evenly, and refills it evenly (the generic cell rate algorithm of
 * ITU-T I.371, in its virtual scheduling form).
 */
export class RateLimiter {
  readonly #name: string;
  readonly #quota: Quota;
  readonly #message: string;
  readonly #intervalMs: number;
  /** By key, the time at which its quota is whole again. */
  readonly #wholeAtMs = new Map<string, number>();
  /** By how many seconds they tell to wait. */
  readonly #refusals = new Map<number, HttpError>();

  /** `name` is what clients see the quota called, `message` what they are told when it is used up. */
  constructor(name: string, quota: Quota, message: string) {
    this.#name = name;
    this.#quota = quota;
    this.#message = message;
    this.#intervalMs = quota.windowMs / quota.amount;
  }

  /**
   * Counts one more for `key` at the time `nowMs`, of a clock that never goes back. When its quota is used up, counts
   * nothing and returns `too_many_requests`, with when to try again.
   */
  take(key: string, nowMs: number): HttpError | undefined {
    const wholeAtMs = Math.max(this.#wholeAtMs.get(key) ?? 0, nowMs) + this.#intervalMs;
    const waitMs = wholeAtMs - nowMs - this.#quota.windowMs;
    // What rounding leaves over is no reason to wait.
    if (waitMs > 0.001) return this.#refusal(Math.ceil(waitMs / 1_000));
    if (this.#wholeAtMs.size >= MAX_KEYS) this.#wholeAtMs.clear();
    this.#wholeAtMs.set(key, wholeAtMs);
    return undefined;
  }

  /** With the header fields of draft-ietf-httpapi-ratelimit-headers-11. */
  #refusal(seconds: number): HttpError {
    let refusal = this.#refusals.get(seconds);
    if (refusal === undefined) {
      const { amount, windowMs } = this.#quota;
      refusal = new HttpError("too_many_requests", `${this.#message}: try again in ${seconds} s`, {
        "Retry-After": String(seconds),
        RateLimit: `"${this.#name}";r=0;t=${seconds}`,
        "RateLimit-Policy": `"${this.#name}";q=${amount};w=${windowMs / 1_000}`,
      });
      this.#refusals.set(seconds, refusal);
    }
    return refusal;
  }
}
