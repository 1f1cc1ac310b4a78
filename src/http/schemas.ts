import { z } from "zod";
import { AppError, type ErrorCode } from "../domain/error.ts";
import { DEFAULT_FIELDS, FIELDS, type Field, LIMIT_MAX, type ListQuery } from "../domain/page.ts";
import {
  ID_MAX,
  ID_MIN,
  idFault,
  idTextFault,
  NAME_MAX_LENGTH,
  NAME_PATTERN,
  type NewPlant,
  nameFault,
  type PlantId,
  parsePlantId,
  TAG_MAX_LENGTH,
  tagFault,
} from "../domain/plant.ts";
import { ERROR_DESCRIPTION } from "./openapi-texts.ts";

/*
 * Each schema checks what comes in, and carries in its metadata what the interface description says of it. Zod's own
 * conversion to JSON Schema knows neither exact 64-bit bounds nor lengths in code points.
 */

/** A value that a rule of the domain checks. */
const ruled = <Value>(fault: (value: unknown) => string | undefined) =>
  z.custom<Value>((value) => fault(value) === undefined, { error: ({ input }) => fault(input) ?? "" });

/** A text in the URL that `parse` turns into a value, or refuses with `undefined`. */
const parsed = <Value>(parse: (text: string) => Value | undefined, message: string) =>
  z.string().transform((input, context) => {
    const value = parse(input);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  });

const ID_FACTS = { type: "integer", format: "int64", minimum: ID_MIN, maximum: ID_MAX };
const TAG_FACTS = { type: "string", maxLength: TAG_MAX_LENGTH };
const TEXT_RULE = "Kept exactly as sent: any well-formed Unicode without U+0000. The length counts code points.";

const id = ruled<number | bigint>(idFault)
  .transform(BigInt)
  .meta({
    ...ID_FACTS,
    description: "Chosen by the client, unique among the owner's plants. Exact over the whole range.",
    examples: [1, ID_MAX],
  });
const name = ruled<string>(nameFault).meta({
  type: "string",
  minLength: 1,
  maxLength: NAME_MAX_LENGTH,
  pattern: NAME_PATTERN,
  description: `${TEXT_RULE} At least one character is not white space.`,
  examples: ["Aristolochia californica"],
});
const tag = ruled<string>(tagFault).meta({ ...TAG_FACTS, description: TEXT_RULE, examples: ["vine"] });

/** The body of a create. */
export const newPlantSchema = z
  .object({ id, name, tag: tag.optional() }, { error: "the body must be a JSON object with id, name and, if any, tag" })
  .meta({ id: "NewPlant", description: "A plant to keep. Unknown fields are ignored." });

/** A plant as the API shows it: the description of the answers, which are not validated on their way out. */
export const plantSchema = z
  .object({ name, tag: tag.optional() })
  .meta({ id: "Plant", description: "A plant. It has no `tag` when it was created without one." });

export const listedPlantSchema = z.object({ id, name, tag }).partial().meta({
  id: "ListedPlant",
  description: "A plant in a list: the fields that `fields` names; `tag` only when the plant has one.",
});

/** The body of every failure. */
export const errorSchema = z
  .object({
    error: z.int32().meta({
      type: "integer",
      format: "int32",
      description: "A stable number: the HTTP status times 100 plus a counter.",
    }),
    message: z.string().meta({ type: "string", description: "What is wrong and what to do about it, for people." }),
  })
  .meta({ id: "Error", description: ERROR_DESCRIPTION });

/** The query parameters of a list. */
export const listParameters = {
  limit: parsed(parseLimit, `limit must be an integer from 1 to ${LIMIT_MAX}, in decimal digits`).meta({
    type: "integer",
    format: "int32",
    minimum: 1,
    maximum: LIMIT_MAX,
    description:
      "At most so many plants. When more remain, the `Link` header leads to them. Without `limit` all plants are listed.",
    examples: [20],
  }),
  after: parsed(parsePlantId, idTextFault("after")).meta({
    ...ID_FACTS,
    description: "Only plants with a greater id.",
    examples: [20],
  }),
  tag: tag.meta({ ...TAG_FACTS, description: "Only plants with exactly this tag.", examples: ["vine"] }),
  fields: parsed(parseFields, `fields must be a comma-separated choice of ${FIELDS.join(", ")}`).meta({
    type: "array",
    items: { type: "string", enum: FIELDS },
    minItems: 1,
    default: DEFAULT_FIELDS,
    description: "What to show of each plant.",
    examples: [FIELDS],
  }),
};
const listQuerySchema = z.object(listParameters).partial();

/** The id in the path of a delete. */
export const pathIdSchema = parsed(parsePlantId, idTextFault("id")).meta({ ...ID_FACTS, examples: [1] });

/** @throws AppError `invalid_plant` that names every field at fault */
export function parseNewPlant(value: unknown): NewPlant {
  const { data, error } = newPlantSchema.safeParse(value);
  if (error === undefined) return data as NewPlant;
  throw new AppError("invalid_plant", error.issues.map(({ message }) => message).join("; "));
}

const PARAMETER_CODES: Record<string, ErrorCode> = { limit: "invalid_limit", after: "invalid_id" };

/** @throws AppError `invalid_limit`, `invalid_id`, `invalid_parameter` */
export function parseListQuery(parameters: Partial<Record<keyof typeof listParameters, string>>): ListQuery {
  const { data, error } = listQuerySchema.safeParse(parameters);
  if (error === undefined) return data;
  const issue = error.issues[0] as z.core.$ZodIssue;
  throw new AppError(PARAMETER_CODES[String(issue.path[0])] ?? "invalid_parameter", issue.message);
}

/** @throws AppError `invalid_id` */
export function parsePathId(input: string): PlantId {
  const { data, error } = pathIdSchema.safeParse(input);
  if (error === undefined) return data;
  throw new AppError("invalid_id", (error.issues[0] as z.core.$ZodIssue).message);
}

function parseLimit(input: string): number | undefined {
  const limit = /^\d+$/.test(input) ? Number(input) : 0;
  return limit >= 1 && limit <= LIMIT_MAX ? limit : undefined;
}

function parseFields(input: string): readonly Field[] | undefined {
  const chosen = input.split(",");
  return chosen.every((field) => (FIELDS as readonly string[]).includes(field)) ? (chosen as Field[]) : undefined;
}
