import { AppError } from "./error.ts";
import { idTextFault, PLANT_FIELDS, type PlantField, type PlantId, parsePlantId, tagFault } from "./plant.ts";

/** The largest `limit`: int32. */
export const LIMIT_MAX = 2_147_483_647;

/** The fields in a list without the parameter `fields`. */
export const DEFAULT_FIELDS: readonly PlantField[] = ["name", "tag"];

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
  readonly fields?: readonly PlantField[] | undefined;
}

/** The parameters of a list request, by name, each as text. */
export const LIST_PARAMETERS = ["limit", "after", "tag", "fields"] as const;
/** The values of {@link LIST_PARAMETERS} that were given. */
export type ListParameters = Partial<Record<(typeof LIST_PARAMETERS)[number], string>>;

/** @throws AppError `invalid_limit`, `invalid_id`, `invalid_parameter` */
export function parseListQuery({ limit, after, tag, fields }: ListParameters): ListQuery {
  const fault = tag === undefined ? undefined : tagFault(tag);
  if (fault !== undefined) throw new AppError("invalid_parameter", fault);
  return {
    limit: limit === undefined ? undefined : parseLimit(limit),
    after: after === undefined ? undefined : parseAfter(after),
    tag,
    fields: fields === undefined ? undefined : parseFields(fields),
  };
}

function parseLimit(text: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new AppError("invalid_limit", `limit must be an integer from 1 to ${LIMIT_MAX}, in decimal digits`);
}

function parseAfter(text: string): PlantId {
  const after = parsePlantId(text);
  if (after !== undefined) return after;
  throw new AppError("invalid_id", idTextFault("after"));
}

function parseFields(text: string): readonly PlantField[] {
  const chosen = text.split(",");
  if (chosen.every((field) => (PLANT_FIELDS as readonly string[]).includes(field))) return chosen as PlantField[];
  throw new AppError("invalid_parameter", `fields must be a comma-separated choice of ${PLANT_FIELDS.join(", ")}`);
}
