import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 12;

/** Returns whether a media query matches, and rerenders when that changes. */
export function useMediaQuery(query: string): boolean {
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

/** Returns the range `[start, end)` of rows to render, out of `count` rows that are `height` pixels high each. */
export function useRowRange(rows: RefObject<HTMLElement | null>, count: number, height: number): [number, number] {
  const start = useSignal(0);
  const end = useSignal(0);
  useLayoutEffect(() => {
    const update = () => {
      const top = rows.current?.getBoundingClientRect().top ?? 0;
      start.value = Math.max(0, Math.floor(-top / height) - OVERSCAN);
      end.value = Math.min(count, Math.ceil((innerHeight - top) / height) + OVERSCAN);
    };
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [rows, count, height, start, end]);
  return [start.value, end.value];
}
