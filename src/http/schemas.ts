import { DEFAULT_FIELDS, FIELDS, LIMIT_MAX, type LIST_PARAMETERS } from "../domain/page.ts";
import { ID_MAX, ID_MIN, NAME_MAX_LENGTH, NAME_PATTERN, TAG_MAX_LENGTH } from "../domain/plant.ts";
import { ERROR_DESCRIPTION } from "./openapi-texts.ts";

/*
 * What goes in and out, in JSON Schema 2020-12. The limits are those by which the domain checks; a test lets both
 * judge the same generated plants and queries, and fails where they disagree.
 */

type JsonSchema = Readonly<Record<string, unknown>>;

const TEXT_RULE = "Kept exactly as sent: any well-formed Unicode without U+0000. The length counts code points.";
const INT64: JsonSchema = { type: "integer", format: "int64", minimum: ID_MIN, maximum: ID_MAX };

const id: JsonSchema = {
  ...INT64,
  description: "Chosen by the client, unique among the owner's plants. Exact over the whole range.",
  examples: [1, ID_MAX],
};
const name: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: NAME_MAX_LENGTH,
  pattern: NAME_PATTERN,
  description: `${TEXT_RULE} At least one character is not white space.`,
  examples: ["Aristolochia californica"],
};
const tag: JsonSchema = { type: "string", maxLength: TAG_MAX_LENGTH, description: TEXT_RULE, examples: ["vine"] };

const object = (
  description: string,
  required: readonly string[],
  properties: Record<string, JsonSchema>,
): JsonSchema => ({
  type: "object",
  description,
  ...(required.length > 0 ? { required } : {}),
  properties,
});

/** The schemas of the description, by name. */
export const SCHEMAS = {
  NewPlant: object("A plant to keep. Unknown fields are ignored.", ["id", "name"], { id, name, tag }),
  Plant: object("A plant. It has no `tag` when it was created without one.", ["name"], { name, tag }),
  ListedPlant: object("A plant in a list: the fields that `fields` names; `tag` only when the plant has one.", [], {
    id,
    name,
    tag,
  }),
  Error: object(ERROR_DESCRIPTION, ["error", "message"], {
    error: {
      type: "integer",
      format: "int32",
      description: "A stable number: the HTTP status times 100 plus a counter.",
    },
    message: { type: "string", description: "What is wrong and what to do about it, for people." },
  }),
} as const;

interface Parameter {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: unknown;
  readonly style?: "form";
  readonly explode?: false;
}

/** The query parameters of a list. */
export const LIST_PARAMETER_SCHEMAS: Readonly<Record<(typeof LIST_PARAMETERS)[number], Parameter>> = {
  limit: {
    description:
      "At most so many plants. When more remain, the `Link` header leads to them. Without `limit` all plants are listed.",
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
      "The fields to show of each plant, separated by commas. May also be repeated: `fields=id&fields=name`.",
    style: "form",
    explode: false,
    schema: { type: "array", items: { type: "string", enum: FIELDS }, minItems: 1, default: DEFAULT_FIELDS },
    example: FIELDS,
  },
};

/** The id in the path of a delete. */
export const PATH_ID: Parameter = {
  description: "An optional `-` and decimal digits.",
  schema: INT64,
  example: 1,
};
