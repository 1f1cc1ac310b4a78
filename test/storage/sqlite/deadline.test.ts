import { describe, expect, it } from "bun:test";
import { DEADLINE_TICKS, startDeadline, type Ticker } from "../../../src/storage/sqlite/deadline.ts";

/** A ticker that the test advances. */
function manualTicker() {
  const ticks = new Set<() => void>();
  const ticker: Ticker = (tick) => {
    ticks.add(tick);
    return () => void ticks.delete(tick);
  };
  return { ticker, tick: () => ticks.forEach((each) => void each()), isRunning: () => ticks.size > 0 };
}

describe("startDeadline", () => {
  it("expires once, after 20 ticks, and stops its ticker", () => {
    const { ticker, tick, isRunning } = manualTicker();
    let expired = 0;
    startDeadline(() => expired++, ticker);
    for (let n = 1; n < DEADLINE_TICKS; n++) tick();
    expect([expired, isRunning()]).toEqual([0, true]);
    tick();
    tick();
    expect([expired, isRunning()]).toEqual([1, false]);
  });

  it("does not expire after it is cancelled", () => {
    const { ticker, tick, isRunning } = manualTicker();
    let expired = 0;
    const cancel = startDeadline(() => expired++, ticker);
    for (let n = 1; n < DEADLINE_TICKS; n++) tick();
    cancel();
    tick();
    expect([expired, isRunning()]).toEqual([0, false]);
  });

  it("counts a pause of the process as one tick", async () => {
    const everyMillisecond: Ticker = (tick) => {
      const timer = setInterval(tick, 1);
      return () => clearInterval(timer);
    };
    let expired = 0;
    const cancel = startDeadline(() => expired++, everyMillisecond);
    // The event loop cannot distinguish a thread that blocks from a process that is stopped.
    Bun.sleepSync(2 * DEADLINE_TICKS);
    await new Promise((resolve) => setImmediate(resolve));
    cancel();
    expect(expired).toBe(0);
  });
});
