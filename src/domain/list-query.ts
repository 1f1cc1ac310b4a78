import { AppError } from "./error.ts";
import { PLANT_FIELDS, type PlantField, type PlantId, requirePlantId, validateTag } from "./plant.ts";

/** The largest `limit`: the maximum of int32. */
export const LIMIT_MAX = 2_147_483_647;

/** The default of the parameter `fields`: the fields in the response to a create. */
export const DEFAULT_FIELDS: readonly PlantField[] = PLANT_FIELDS.filter((field) => field !== "id");

/** Selects plants of an owner. */
export interface PlantFilter {
  /** Only plants with a greater id. */
  readonly after?: PlantId | undefined;
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
}

/** A list request. Without `limit`, the list contains all plants. */
export interface ListQuery extends PlantFilter {
  readonly limit?: number | undefined;
  readonly fields?: readonly PlantField[] | undefined;
}

/** The query parameters of a list request. */
export const LIST_PARAMETERS = ["limit", "after", "tag", "fields"] as const;
/** The decoded query parameters of a list request, without those that are absent. */
export type ListParameters = Partial<Record<(typeof LIST_PARAMETERS)[number], string>>;

/**
 * Parses the query parameters of a list request.
 * @throws AppError `invalid_limit`, `invalid_id`, `invalid_parameter`
 */
export function parseListQuery({ limit, after, tag, fields }: ListParameters): ListQuery {
  const tagError = tag === undefined ? undefined : validateTag(tag);
  if (tagError !== undefined) throw new AppError("invalid_parameter", tagError);
  return {
    limit: limit === undefined ? undefined : parseLimit(limit),
    after: after === undefined ? undefined : requirePlantId(after, "after"),
    tag,
    fields: fields === undefined ? undefined : parseFields(fields),
  };
}

function parseLimit(text: string): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new AppError("invalid_limit", `limit must be an integer from 1 to ${LIMIT_MAX}, in decimal digits`);
}

function parseFields(text: string): readonly PlantField[] {
  const fields = text.split(",");
  if (fields.every((field) => (PLANT_FIELDS as readonly string[]).includes(field))) return fields as PlantField[];
  throw new AppError(
    "invalid_parameter",
    `fields must be a comma-separated list of these fields: ${PLANT_FIELDS.join(", ")}`,
  );
}
