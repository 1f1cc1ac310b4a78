import type { PlantId } from "./plant.ts";

/** The largest `limit`: int32. */
export const LIMIT_MAX = 2_147_483_647;

/** What a list can show of a plant, in the order in which it shows it. */
export const FIELDS = ["id", "name", "tag"] as const;
export type Field = (typeof FIELDS)[number];

export const DEFAULT_FIELDS: readonly Field[] = ["name", "tag"];

/** Which of an owner's plants are meant; a list is always in the order of the ids, ascending. */
export interface PlantFilter {
  /** Only plants with a greater id. */
  readonly after?: PlantId | undefined;
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
}

/** A list request. Without `limit` it means all the plants there are. */
export interface ListQuery extends PlantFilter {
  readonly limit?: number | undefined;
  readonly fields?: readonly Field[] | undefined;
}
