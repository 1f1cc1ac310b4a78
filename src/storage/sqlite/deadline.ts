/** Ticks until a deadline expires. */
export const DEADLINE_TICKS = 20;
const TICK_MS = 1_000;

/** Starts to call `tick` once per second and returns the function that stops it. */
export type Ticker = (tick: () => void) => () => void;

const everySecond: Ticker = (tick) => {
  const timer = setInterval(tick, TICK_MS);
  return () => clearInterval(timer);
};

/**
 * Calls `onExpired` once, after this process has run for 20 seconds, and returns the function that cancels it.
 * A pause of the process (SIGSTOP, a frozen container, a suspended virtual machine) counts as one second at most, because
 * timers that fall due during the pause fire only once after it.
 */
export function startDeadline(onExpired: () => void, ticker = everySecond): () => void {
  let ticks = 0;
  const stop = ticker(() => {
    if (++ticks < DEADLINE_TICKS) return;
    stop();
    onExpired();
  });
  return stop;
}
