import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

/** Rows that are there beyond both edges of the window. */
const MARGIN = 12;

/** Whether a media query holds, also when that changes. */
export function useMedia(query: string): boolean {
  const matches = useSignal(matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const update = () => {
      matches.value = media.matches;
    };
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, [query, matches]);
  return matches.value;
}

/** Which of `count` rows, each `height` pixels high, the window shows of `rows`: the first one, and the one after the last. */
export function useRowsInSight(rows: RefObject<HTMLElement | null>, count: number, height: number): [number, number] {
  const first = useSignal(0);
  const last = useSignal(0);
  useLayoutEffect(() => {
    const update = () => {
      const top = rows.current?.getBoundingClientRect().top ?? 0;
      first.value = Math.max(0, Math.floor(-top / height) - MARGIN);
      last.value = Math.min(count, Math.ceil((innerHeight - top) / height) + MARGIN);
    };
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [rows, count, height, first, last]);
  return [first.value, last.value];
}
