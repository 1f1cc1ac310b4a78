import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { describeError } from "../state/session.ts";

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 12;

/**
 * Returns the rows near the viewport, out of `count`, from `start` to before `end`, and the `height` of each in pixels.
 * Rerenders when they change.
 */
export function useRowRange(body: RefObject<HTMLTableSectionElement | null>, count: number) {
  const range = useSignal({ start: 0, end: 1, height: 48 });
  useLayoutEffect(() => {
    const update = () => {
      const { value } = range;
      const { top = 0 } = body.current?.getBoundingClientRect() ?? {};
      const height = body.current?.querySelector<HTMLElement>("tr[id]")?.offsetHeight ?? value.height;
      const start = Math.max(0, Math.floor(-top / height) - OVERSCAN);
      const end = Math.min(count, Math.ceil((innerHeight - top) / height) + OVERSCAN);
      if (start !== value.start || end !== value.end || height !== value.height) range.value = { start, end, height };
    };
    const controller = new AbortController();
    for (const event of ["scroll", "resize"]) {
      addEventListener(event, update, { signal: controller.signal, passive: true });
    }
    update();
    return () => controller.abort();
  }, [body, count, range]);
  return range.value;
}

/** Returns a function that runs asynchronous actions, one at a time, and the state of the last one. */
export function useAction() {
  const isBusy = useSignal(false);
  /** Why the last action failed; empty if it did not. */
  const error = useSignal("");
  const controller = useMemo(() => new AbortController(), []);
  useEffect(() => () => controller.abort(), [controller]);
  /** Runs the action unless another one is running. The signal is aborted when the component is removed. */
  const run = async (action: (signal: AbortSignal) => Promise<void>): Promise<void> => {
    if (isBusy.peek()) return;
    isBusy.value = true;
    error.value = "";
    try {
      await action(controller.signal);
    } catch (cause) {
      if (!controller.signal.aborted) error.value = describeError(cause);
    }
    isBusy.value = false;
  };
  return { isBusy, error, run };
}
