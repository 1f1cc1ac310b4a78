import { AppError } from "./error.ts";

/** Chosen by the client, unique per owner: any integer from {@link ID_MIN} to {@link ID_MAX} (int64). */
export type PlantId = bigint;

/** A plant. Without a tag, it has no `tag` property. */
export interface Plant {
  readonly id: PlantId;
  readonly name: string;
  readonly tag?: string;
}

/** The response to a create: the plant without the id, which the client chose. */
export type CreatedPlant = Omit<Plant, "id">;

/** All fields of a plant, in the order in which lists and files contain them. */
export const PLANT_FIELDS = ["id", "name", "tag"] as const satisfies readonly (keyof Plant)[];
/** One of {@link PLANT_FIELDS}. */
export type PlantField = (typeof PLANT_FIELDS)[number];

/** Whether two plants have the same fields. */
export const isSamePlant = (a: Plant, b: Plant): boolean => PLANT_FIELDS.every((field) => a[field] === b[field]);

/** Whom a token acts for: never empty. Opaque: equal or not, nothing else. */
export type Owner = string;

/** The smallest id: -2^63. */
export const ID_MIN: PlantId = -(2n ** 63n);
/** The largest id: 2^63 - 1. */
export const ID_MAX: PlantId = 2n ** 63n - 1n;
/** In Unicode code points, as JSON Schema counts `maxLength`. */
export const NAME_MAX_LENGTH = 1024;
/**
 * A character that is not white space, which every name has: all but Unicode's White_Space property (PropList.txt),
 * spelled out so that any dialect of regular expressions reads it.
 */
export const NAME_PATTERN = "[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/** In Unicode code points. */
export const TAG_MAX_LENGTH = 255;
/** In visible ASCII characters. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

const NOT_WHITE_SPACE = new RegExp(NAME_PATTERN);
const ID_RULE = `must be an integer from ${ID_MIN} to ${ID_MAX}`;

/** What is wrong with `value` as the id of a plant, in the client's words; `undefined` when nothing is. */
function idFault(value: unknown): string | undefined {
  const isId = typeof value === "bigint" ? value >= ID_MIN && value <= ID_MAX : Number.isSafeInteger(value);
  return isId ? undefined : `id ${ID_RULE}`;
}

/** What is wrong with `value` as the name of a plant; `undefined` when nothing is. */
function nameFault(value: unknown): string | undefined {
  if (typeof value !== "string" || !hasLength(value, 1, NAME_MAX_LENGTH) || !NOT_WHITE_SPACE.test(value)) {
    return `name must be a string of 1 to ${NAME_MAX_LENGTH} characters (Unicode code points), not all white space`;
  }
  return textFault("name", value);
}

/** What is wrong with `value` as the tag of a plant; `undefined` when nothing is. */
export function tagFault(value: unknown): string | undefined {
  if (typeof value !== "string" || !hasLength(value, 0, TAG_MAX_LENGTH)) {
    return `tag must be a string of 0 to ${TAG_MAX_LENGTH} characters (Unicode code points); leave it out for none`;
  }
  return textFault("tag", value);
}

/**
 * Takes what a client sent as a new plant; unknown fields are passed over.
 * @throws AppError `invalid_plant` that names every field at fault
 */
export function parsePlant(value: unknown): Plant {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid_plant", "a plant must be a JSON object with id, name and, if wanted, tag");
  }
  const { id, name, tag } = value as Record<string, unknown>;
  const faults = [idFault(id), nameFault(name), tag === undefined ? undefined : tagFault(tag)];
  const message = faults.filter((fault) => fault !== undefined).join("; ");
  if (message !== "") throw new AppError("invalid_plant", message);
  const plant = { id: BigInt(id as number | bigint), name: name as string };
  return tag === undefined ? plant : { ...plant, tag: tag as string };
}

/** Reads the id of a plant from a path or a query: an optional `-` and decimal digits, in the range of int64. */
export function parsePlantId(text: string): PlantId | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const significant = text.replace(/^(-?)0+(?=\d)/, "$1");
  if (significant.length > 20) return undefined;
  const id = BigInt(significant);
  return id >= ID_MIN && id <= ID_MAX ? id : undefined;
}

/** The sentence for an id that {@link parsePlantId} does not read; `field` is where it stood. */
export const idTextFault = (field: string): string => `${field} ${ID_RULE}, in decimal digits`;

/** What no text of a plant may hold, whichever field it stands in. */
function textFault(field: string, value: string): string | undefined {
  if (value.includes("\0")) return `${field} must not contain the character U+0000`;
  if (!value.isWellFormed()) return `${field} must be well-formed Unicode, without lone surrogates`;
  return undefined;
}

function hasLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false;
  return text.length <= max || [...text].length <= max;
}
