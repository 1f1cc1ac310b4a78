import { DEFAULT_FIELDS, LIMIT_MAX, type LIST_PARAMETERS } from "../domain/list-query.ts";
import {
  ID_MAX,
  ID_MIN,
  NAME_MAX_LENGTH,
  NAME_PATTERN,
  PLANT_FIELDS,
  type PlantField,
  REQUIRED_FIELDS,
  TAG_MAX_LENGTH,
} from "../domain/plant.ts";
import { ERROR_DESCRIPTION } from "./openapi-texts.ts";

/*
 * JSON Schemas (2020-12) of requests and responses. The limits are the constants of the domain. A property test verifies
 * that the schemas and the domain accept the same plants and queries.
 */

type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT_RULE = "Any well-formed Unicode without U+0000, stored exactly as sent. The length is in code points.";
const INT64: JsonSchema = { type: "integer", format: "int64", minimum: ID_MIN, maximum: ID_MAX };

const FIELD_SCHEMAS: Readonly<Record<PlantField, JsonSchema>> = {
  id: {
    ...INT64,
    description: "Chosen by the client. Unique per owner. Exact over the whole int64 range.",
    examples: [1, ID_MAX],
  },
  name: {
    type: "string",
    minLength: 1,
    maxLength: NAME_MAX_LENGTH,
    pattern: NAME_PATTERN,
    description: `${TEXT_RULE} At least one character must not be white space.`,
    examples: ["Aristolochia californica"],
  },
  tag: { type: "string", maxLength: TAG_MAX_LENGTH, description: TEXT_RULE, examples: ["vine"] },
};

/** Returns the schema of an object with these fields of a plant. */
const plantSchema = (description: string, fields: readonly PlantField[], required: readonly PlantField[]) => ({
  type: "object",
  description,
  ...(required.length > 0 ? { required } : {}),
  properties: Object.fromEntries(fields.map((field) => [field, FIELD_SCHEMAS[field]])),
});

/** Named schemas of the API description. */
export const SCHEMAS = {
  NewPlant: plantSchema("A plant to create. Unknown fields are ignored.", PLANT_FIELDS, REQUIRED_FIELDS),
  Plant: plantSchema(
    "A plant. `tag` is absent if the plant has none.",
    DEFAULT_FIELDS,
    REQUIRED_FIELDS.filter((field) => DEFAULT_FIELDS.includes(field)),
  ),
  ListedPlant: plantSchema(
    "A plant in a list, with the fields selected by `fields`. `tag` is absent if the plant has none.",
    PLANT_FIELDS,
    [],
  ),
  Error: {
    type: "object",
    description: ERROR_DESCRIPTION,
    required: ["error", "message"],
    properties: {
      error: {
        type: "integer",
        format: "int32",
        description: "Stable error number: the HTTP status times 100 plus a counter.",
      },
      message: { type: "string", description: "Human-readable description of the error and its remedy." },
    },
  },
};

type Parameter = JsonSchema & { readonly schema: JsonSchema };

/** Query parameters of a list. */
export const LIST_PARAMETER_SCHEMAS: Readonly<Record<(typeof LIST_PARAMETERS)[number], Parameter>> = {
  limit: {
    description:
      "Maximum number of plants. If more remain, the `Link` header contains the URL of the next page. Without `limit`, the list contains all plants.",
    schema: { type: "integer", format: "int32", minimum: 1, maximum: LIMIT_MAX },
    example: 20,
  },
  after: { description: "Only plants with a greater id.", schema: INT64, example: 20 },
  tag: {
    description: "Only plants with exactly this tag.",
    schema: { type: "string", maxLength: TAG_MAX_LENGTH },
    example: "vine",
  },
  fields: {
    description:
      "Comma-separated fields to return for each plant. The parameter can also be repeated: `fields=id&fields=name`.",
    style: "form",
    explode: false,
    schema: { type: "array", items: { type: "string", enum: PLANT_FIELDS }, minItems: 1, default: DEFAULT_FIELDS },
    example: PLANT_FIELDS,
  },
};

/** Path parameter `id` of a delete. */
export const PATH_ID: Parameter = {
  description: "Id of the plant: an optional `-` and decimal digits.",
  schema: INT64,
  example: 1,
};
