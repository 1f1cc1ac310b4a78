import { ConnectionError, PlantStoreError } from "./errors.ts";

/** How patient a client is. */
export interface RetryOptions {
  /** How often a request is sent at most. Default: 5. */
  readonly attempts: number;
  /** Milliseconds before the second attempt; doubled for each one after it. Default: 100. */
  readonly baseDelayMs: number;
}

const MAX_DELAY_MS = 60_000;

/**
 * Runs `attempt` until it succeeds, it fails for good, or the attempts are used up; then throws its last error.
 * Waits longer each time, by a random part so that clients do not come back in step, and never less than the server
 * asked for with `Retry-After`.
 */
export async function retrying<Result>(
  attempt: (number: number) => Promise<Result>,
  { attempts, baseDelayMs }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      signal?.throwIfAborted();
      if (number >= attempts || !isPassing(error)) throw error;
      const askedMs = error instanceof PlantStoreError ? error.retryAfterMs : 0;
      const backoffMs = baseDelayMs * 2 ** (number - 1) * (0.5 + Math.random() / 2);
      await wait(Math.min(Math.max(askedMs, backoffMs), MAX_DELAY_MS), signal);
    }
  }
}

/** Whether the same request may well succeed a little later. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof PlantStoreError && (error.status === 429 || error.status >= 500));

function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, delayMs);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
