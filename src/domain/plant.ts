import { AppError } from "./error.ts";
import { toJsonNumber } from "./json.ts";

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

/** A field of a plant. */
export type PlantField = keyof Plant;

/** The owner of plants and tokens: an opaque, non-empty string. */
export type Owner = string;

/** The smallest id: -2^63. */
export const ID_MIN: PlantId = -(2n ** 63n);
/** The largest id: 2^63 - 1. */
export const ID_MAX: PlantId = 2n ** 63n - 1n;
/** In Unicode code points, as JSON Schema counts `maxLength`. */
export const NAME_MAX_LENGTH = 1024;
/**
 * Matches a character that is not white space; every name has one. Lists the characters of Unicode's White_Space property
 * (PropList.txt), because not every regular expression engine supports Unicode properties.
 */
export const NAME_PATTERN = "[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
/** In Unicode code points. */
export const TAG_MAX_LENGTH = 255;
/** In visible ASCII characters. */
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

const NOT_WHITE_SPACE = new RegExp(NAME_PATTERN);
const ID_RULE = `must be an integer from ${ID_MIN} to ${ID_MAX}`;

/** Returns the validation error of a value, or `undefined` if the value is valid. */
type Validator = (value: unknown) => string | undefined;

/** All fields of a plant, in the order in which lists and files contain them. */
const FIELDS: {
  readonly [Field in PlantField]-?: {
    readonly isRequired: undefined extends Plant[Field] ? false : true;
    readonly validate: Validator;
  };
} = {
  id: { isRequired: true, validate: validateId },
  name: { isRequired: true, validate: validateName },
  tag: { isRequired: false, validate: validateTag },
};

const ENTRIES = Object.entries(FIELDS);

/** The names of all fields, in the order in which lists and files contain them. */
export const PLANT_FIELDS = Object.keys(FIELDS) as readonly PlantField[];

/** The names of the fields that every plant has. */
export const REQUIRED_FIELDS = PLANT_FIELDS.filter((field) => FIELDS[field].isRequired);

/** Returns whether two plants are equal in all fields. */
export const isSamePlant = (a: Plant, b: Plant): boolean => PLANT_FIELDS.every((field) => a[field] === b[field]);

/**
 * Parses a plant from a request or file. Ignores unknown fields.
 * @throws AppError `invalid_plant` that names every invalid field
 */
export function parsePlant(value: unknown): Plant {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new AppError("invalid_plant", "a plant must be a JSON object with id, name and optionally tag");
  }
  const plant: Record<string, unknown> = {};
  const errors: string[] = [];
  for (const [field, { isRequired, validate }] of ENTRIES) {
    const fieldValue = (value as Record<string, unknown>)[field];
    if (fieldValue === undefined && !isRequired) continue;
    const error = validate(fieldValue);
    if (error !== undefined) errors.push(error);
    plant[field] = fieldValue;
  }
  if (errors.length > 0) throw new AppError("invalid_plant", errors.join("; "));
  plant["id"] = BigInt(plant["id"] as number | bigint);
  return plant as unknown as Plant;
}

/** Formats plants as JSON objects with these fields, separated by commas. */
export function stringifyPlants(plants: readonly Plant[], fields: readonly PlantField[] = PLANT_FIELDS): string {
  const ordered = PLANT_FIELDS.filter((field) => fields.includes(field));
  const objects = plants.map((plant) => {
    const object: Record<string, unknown> = {};
    for (const field of ordered) object[field] = field === "id" ? toJsonNumber(plant.id) : plant[field];
    return object;
  });
  return JSON.stringify(objects).slice(1, -1);
}

/** Parses an id from a path, query or CSV file: an optional `-` and decimal digits. Returns `undefined` if it is invalid. */
export function parsePlantId(text: string): PlantId | undefined {
  if (!/^-?\d+$/.test(text)) return undefined;
  const significant = text.replace(/^(-?)0+(?=\d)/, "$1");
  if (significant.length > 20) return undefined;
  const id = BigInt(significant);
  return id >= ID_MIN && id <= ID_MAX ? id : undefined;
}

/**
 * Parses an id as {@link parsePlantId} does. `name` is its field or parameter, for the error message.
 * @throws AppError `invalid_id`
 */
export function requirePlantId(text: string, name: string): PlantId {
  const id = parsePlantId(text);
  if (id === undefined) throw new AppError("invalid_id", `${name} ${ID_RULE}, in decimal digits`);
  return id;
}

function validateId(value: unknown): string | undefined {
  const isId = typeof value === "bigint" ? value >= ID_MIN && value <= ID_MAX : Number.isSafeInteger(value);
  return isId ? undefined : `id ${ID_RULE}`;
}

function validateName(value: unknown): string | undefined {
  if (typeof value !== "string" || !hasLength(value, 1, NAME_MAX_LENGTH) || !NOT_WHITE_SPACE.test(value)) {
    return `name must be a string of 1 to ${NAME_MAX_LENGTH} characters (Unicode code points), not all white space`;
  }
  return validateCharacters("name", value);
}

/** Returns the validation error of a tag, or `undefined` if it is valid. */
export function validateTag(value: unknown): string | undefined {
  if (typeof value !== "string" || !hasLength(value, 0, TAG_MAX_LENGTH)) {
    return `tag must be a string of 0 to ${TAG_MAX_LENGTH} characters (Unicode code points); omit it for no tag`;
  }
  return validateCharacters("tag", value);
}

function validateCharacters(field: string, value: string): string | undefined {
  if (value.includes("\0")) return `${field} must not contain the character U+0000`;
  if (!value.isWellFormed()) return `${field} must be well-formed Unicode, without lone surrogates`;
  return undefined;
}

function hasLength(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > 2 * max) return false;
  return text.length <= max || [...text].length <= max;
}
