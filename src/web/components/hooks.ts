import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";

/** Rows rendered above and below the visible ones. */
const OVERSCAN = 12;

/** Height of a row in pixels, on narrow and wide screens. Must match `tables.css`. */
const ROW_HEIGHT = { narrow: 64, wide: 48 };
const isNarrow = matchMedia("(max-width: 40rem)");

/** Rows to render, from `start` to before `end`, and the height of each in pixels. */
interface RowRange {
  readonly start: number;
  readonly end: number;
  readonly height: number;
}

/** Returns the rows near the viewport, out of `count`; rerenders when they change. */
export function useRowRange(rows: RefObject<HTMLElement | null>, count: number): RowRange {
  const range = useSignal<RowRange>({ start: 0, end: 0, height: ROW_HEIGHT.wide });
  useLayoutEffect(() => {
    const update = () => {
      const height = isNarrow.matches ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide;
      const top = rows.current?.getBoundingClientRect().top ?? 0;
      const start = Math.max(0, Math.floor(-top / height) - OVERSCAN);
      const end = Math.min(count, Math.ceil((innerHeight - top) / height) + OVERSCAN);
      const { value } = range;
      if (start !== value.start || end !== value.end || height !== value.height) range.value = { start, end, height };
    };
    update();
    addEventListener("scroll", update, { passive: true });
    addEventListener("resize", update);
    return () => {
      removeEventListener("scroll", update);
      removeEventListener("resize", update);
    };
  }, [rows, count, range]);
  return range.value;
}
