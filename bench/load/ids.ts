import { FIRST_ID, FIRST_NEW_ID, ID_STEP } from "../servers/exchange.ts";

/** Ids of a load: request k, counted from 1, has `from + (offset + k * step) % span`. They repeat after a full cycle. */
export interface Ids {
  readonly from: number;
  readonly offset: number;
  readonly step: number;
  readonly span: number;
}

/** Ids reserved per load, more than any load uses. */
const IDS_PER_LOAD = 10_000_000;

/** Returns new, ascending ids. Loads with different numbers have no ids in common. */
export const ascendingIds = (load: number): Ids => ({
  from: FIRST_NEW_ID + load * IDS_PER_LOAD,
  offset: 0,
  step: 1,
  span: IDS_PER_LOAD,
});

/** Returns the ascending ids of `count` seeded plants, starting with the plant at index `first`. */
export const seededIds = (first: number, count: number): Ids => ({
  from: FIRST_ID + first * ID_STEP,
  offset: -ID_STEP,
  step: ID_STEP,
  span: count * ID_STEP,
});

/**
 * Returns new ids, scattered over the range of the seeded ids. They are odd and seeded ids are even, so they never collide. The
 * step is close to the golden section of the span, and half of it is coprime to the span, so that all odd ids occur.
 */
export function scatteredIds(plants: number, load: number): Ids {
  const span = plants * ID_STEP;
  const step = 2 * (Math.floor((span * 0.3090169943749474) / 10) * 10 + 1);
  const offset = Number((BigInt(load) * 1_000_000n * BigInt(step)) % BigInt(span));
  return { from: FIRST_ID + 1, offset, step, span };
}
