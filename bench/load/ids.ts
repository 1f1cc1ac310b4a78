import { FIRST_ID, FIRST_NEW_ID, ID_STEP } from "../servers/exchange.ts";

/** The ids of a load: request k (from 1) has `from + (offset + k * step) % span`. All differ until they come round. */
export interface Ids {
  readonly from: number;
  readonly offset: number;
  readonly step: number;
  readonly span: number;
}

/** More ids than one load uses. */
const PER_LOAD = 10_000_000;

/** New ids, one above the other; each number of a load has some of its own. */
export const ascendingIds = (load: number): Ids => ({
  from: FIRST_NEW_ID + load * PER_LOAD,
  offset: 0,
  step: 1,
  span: PER_LOAD,
});

/** The ids of the plants that a store begins with, from the one with this number on, ascending. */
export const seededIds = (first: number, count: number): Ids => ({
  from: FIRST_ID + first * ID_STEP,
  offset: -ID_STEP,
  step: ID_STEP,
  span: count * ID_STEP,
});

/**
 * New ids among those of the plants that a store begins with, all over the place. They are odd, where those are even;
 * the step is near the golden ratio of the span, and has no factor in common with it. Each load has a number, from 0.
 */
export function scatteredIds(plants: number, load: number): Ids {
  const span = plants * ID_STEP;
  const step = 2 * (Math.floor((span * 0.3090169943749474) / 10) * 10 + 1);
  const offset = Number((BigInt(load) * 1_000_000n * BigInt(step)) % BigInt(span));
  return { from: FIRST_ID + 1, offset, step, span };
}
