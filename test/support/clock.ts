import { beforeEach, spyOn } from "bun:test";

/** A monotonic clock that a test can move forward. */
export interface Clock {
  advance(ms: number): void;
}

/** Lets each test of a file move `performance.now` forward. The file restores mocks after each test. */
export function advanceableClock(): Clock {
  const now = performance.now.bind(performance);
  let advancedMs = 0;
  beforeEach(() => {
    spyOn(performance, "now").mockImplementation(() => now() + advancedMs);
  });
  return {
    advance: (ms) => {
      advancedMs += ms;
    },
  };
}
