import { HttpError } from "./errors.ts";

/** The number of events allowed per time window. */
export interface Quota {
  /** 1 or more. */
  readonly amount: number;
  /** Whole seconds, in milliseconds. */
  readonly windowMs: number;
}

/** Maximum number of keys; all are cleared when exceeded. This bounds memory, and never rejects a client by mistake. */
const MAX_KEYS = 100_000;

/**
 * Limits the rate per key. Quotas allow bursts and refill steadily (the generic cell rate algorithm of ITU-T I.371, in
 * its virtual scheduling form).
 */
export class RateLimiter {
  readonly #name: string;
  readonly #quota: Quota;
  readonly #message: string;
  readonly #intervalMs: number;
  /** The time at which the quota of each key is full again. */
  readonly #fullAtMs = new Map<string, number>();
  /** Errors by their `Retry-After` in seconds. */
  readonly #errors = new Map<number, HttpError>();

  /** `name` identifies the quota in the `RateLimit` headers, `message` begins the error message. */
  constructor(name: string, quota: Quota, message: string) {
    this.#name = name;
    this.#quota = quota;
    this.#message = message;
    this.#intervalMs = quota.windowMs / quota.amount;
  }

  /**
   * Counts one event for `key` at `nowMs`, the time of a monotonic clock. When the quota is exhausted, counts nothing
   * and returns `too_many_requests` with a `Retry-After`.
   */
  take(key: string, nowMs: number): HttpError | undefined {
    const fullAtMs = Math.max(this.#fullAtMs.get(key) ?? 0, nowMs) + this.#intervalMs;
    const waitMs = fullAtMs - nowMs - this.#quota.windowMs;
    // Tolerates rounding errors.
    if (waitMs > 0.001) return this.#errors.getOrInsertComputed(Math.ceil(waitMs / 1_000), this.#createError);
    if (this.#fullAtMs.size >= MAX_KEYS) this.#fullAtMs.clear();
    this.#fullAtMs.set(key, fullAtMs);
    return undefined;
  }

  /** Creates an error with the header fields of draft-ietf-httpapi-ratelimit-headers-11. */
  readonly #createError = (seconds: number): HttpError => {
    const { amount, windowMs } = this.#quota;
    return new HttpError("too_many_requests", `${this.#message}: try again in ${seconds} s`, {
      "Retry-After": String(seconds),
      RateLimit: `"${this.#name}";r=0;t=${seconds}`,
      "RateLimit-Policy": `"${this.#name}";q=${amount};w=${windowMs / 1_000}`,
    });
  };
}
