import { afterEach, describe, expect, it, spyOn } from "bun:test";
import { stopSignal } from "../../src/server/signals.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
/** Includes SIGHUP, which is a stop signal when a terminal runs the tests. */
const HANDLED = [...SIGNALS, "SIGHUP"] as const;
const listenersBefore = HANDLED.map((signal) => process.listeners(signal));
afterEach(() => {
  for (const [index, signal] of HANDLED.entries()) {
    for (const listener of process.listeners(signal)) {
      if (!listenersBefore[index]?.includes(listener)) process.off(signal, listener);
    }
  }
});

describe("stopSignal", () => {
  it.each(SIGNALS)("forces the exit at a signal one second or more after the first %s", async (first) => {
    const exit = spyOn(process, "exit").mockReturnValue(undefined as never);
    let nowMs = 5_000;
    const stopping = stopSignal(() => nowMs);
    process.emit(first);
    expect(await stopping).toBe(first);
    nowMs += 999;
    for (const signal of SIGNALS) process.emit(signal);
    expect(exit).not.toHaveBeenCalled();
    nowMs += 1;
    process.emit("SIGINT");
    expect(exit).toHaveBeenCalledWith(1);
    exit.mockRestore();
  });
});
