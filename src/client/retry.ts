import { ConnectionError, PlantStoreError } from "./errors.ts";

/** Retry policy of a client. */
export interface RetryOptions {
  /** Maximum number of attempts, including the first. Default: 5. */
  readonly attempts: number;
  /** Maximum delay before the second attempt in milliseconds; doubles with each further attempt. Default: 100. */
  readonly baseDelayMs: number;
}

const MAX_DELAY_MS = 60_000;

/**
 * Calls `attempt` until it succeeds, fails with a permanent error or the attempts are exhausted; then throws the last
 * error. The delay doubles each time, with jitter so that clients do not retry simultaneously. A longer `Retry-After`
 * takes precedence. No delay exceeds 60 seconds.
 */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  { attempts: maxAttempts, baseDelayMs }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (attempts >= maxAttempts || !isTransient(error)) throw error;
      const retryAfterMs = error instanceof PlantStoreError ? error.retryAfterMs : 0;
      const backoffMs = baseDelayMs * 2 ** (attempts - 1) * (0.5 + Math.random() / 2);
      await delay(Math.min(Math.max(retryAfterMs, backoffMs), MAX_DELAY_MS), signal);
    }
  }
}

/** Returns whether a retry of the same request may succeed. */
const isTransient = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof PlantStoreError && (error.status === 429 || error.status >= 500));

function delay(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
