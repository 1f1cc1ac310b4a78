import { ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";
import { stringifyJson } from "../domain/json.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../domain/plant.ts";
import type { Scope } from "../domain/token.ts";
import { MAX_BODY_BYTES } from "./body.ts";
import { REQUEST_ID_MAX_LENGTH } from "./call.ts";
import { HEADERS, INTRODUCTION, LIST_EXAMPLES, NEW_PLANT_EXAMPLES, PLANT_EXAMPLES } from "./openapi-texts.ts";
import { LIST_PARAMETER_SCHEMAS, PATH_ID, SCHEMAS } from "./schemas.ts";

type Json = Record<string, unknown>;

const schemaRef = (name: keyof typeof SCHEMAS): Json => ({ $ref: `#/components/schemas/${name}` });
const headerRef = (name: keyof typeof HEADERS): Json => ({ $ref: `#/components/headers/${name}` });

/** Errors of every operation. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  "multiple_credentials",
  "unauthenticated",
  "invalid_token",
  "insufficient_scope",
  "too_many_requests",
  "internal",
  "unavailable",
];

/** Additional headers of a status. */
const HEADERS_BY_STATUS: Record<number, Json> = {
  400: { "WWW-Authenticate": headerRef("OptionalChallenge") },
  401: { "WWW-Authenticate": headerRef("Challenge") },
  403: { "WWW-Authenticate": headerRef("Challenge") },
  429: {
    "Retry-After": headerRef("Retry-After"),
    RateLimit: headerRef("RateLimit"),
    "RateLimit-Policy": headerRef("RateLimit-Policy"),
  },
  503: { "Retry-After": headerRef("Retry-After") },
};

const REQUEST_ID = { $ref: "#/components/parameters/requestId" };

const scopeNote = (scope: Scope): string => `Requires the scope \`${scope}\`.`;

const jsonContent = (schema: Json, examples: Json): Json => ({ "application/json": { schema, examples } });

const response = (description: string, content?: Json, headers: Json = {}): Json => ({
  description,
  headers: { "X-Request-Id": headerRef("X-Request-Id"), "Cache-Control": headerRef("Cache-Control"), ...headers },
  ...(content === undefined ? {} : { content }),
});

/** Returns the error responses of an operation by status, with the error numbers and an example of each error. */
function errors(own: readonly ErrorCode[]): Json {
  const entries = [...own, ...COMMON_ERRORS].map((code) => ({ code, ...ERRORS[code] }));
  const byStatus = [...Map.groupBy(entries, ({ number }) => statusOf(number))].map(([status, group]) => {
    const numbers = group.map(({ number }) => number);
    const schema = { allOf: [schemaRef("Error")], properties: { error: { enum: numbers } } };
    const examples = group.map(({ code, number, meaning }) => [code, { value: { error: number, message: meaning } }]);
    const description = group.map(({ number, meaning }) => `\`${number}\` ${meaning}`).join(" · ");
    const content = jsonContent(schema, Object.fromEntries(examples));
    return [status, response(description, content, HEADERS_BY_STATUS[status])];
  });
  return Object.fromEntries(byStatus);
}

const CREATE_PLANT: Json = {
  operationId: "createPlant",
  tags: ["plants"],
  summary: "Create a plant",
  description: `Returns once the plant is durable. A rejected create changes nothing. The body is limited to ${MAX_BODY_BYTES} bytes.\n\n${scopeNote("plants:write")}`,
  parameters: [
    {
      name: "Idempotency-Key",
      in: "header",
      description:
        "Makes retries safe: a retry with the same key, id and plant succeeds for as long as the plant exists.",
      schema: { type: "string", minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_LENGTH, pattern: "^[\\x21-\\x7e]+$" },
      example: "5f3c1d0e-7a53-4b0e-8d0c-0c1f2f6b9a11",
    },
    REQUEST_ID,
  ],
  requestBody: { required: true, content: jsonContent(schemaRef("NewPlant"), NEW_PLANT_EXAMPLES) },
  responses: {
    200: {
      ...response("The created plant.", jsonContent(schemaRef("Plant"), PLANT_EXAMPLES)),
      links: { deletePlant: { operationId: "deletePlant", parameters: { id: "$request.body#/id" } } },
    },
    ...errors([
      "malformed_json",
      "invalid_plant",
      "duplicate_id",
      "unsupported_content_type",
      "body_too_large",
      "invalid_parameter",
    ]),
  },
};

const LIST_PLANTS: Json = {
  operationId: "listPlants",
  tags: ["plants"],
  summary: "List plants",
  description: `Returns plants ordered by ascending id. A list that starts after a create or delete was acknowledged reflects it. A plant that exists throughout the listing appears exactly once.\n\n${scopeNote("plants:read")}`,
  parameters: [
    ...Object.entries(LIST_PARAMETER_SCHEMAS).map(([name, parameter]) => ({ name, in: "query", ...parameter })),
    REQUEST_ID,
  ],
  responses: {
    200: response(
      "A page of plants, or all plants without `limit`.",
      jsonContent({ type: "array", items: schemaRef("ListedPlant") }, LIST_EXAMPLES),
      { Link: headerRef("Link") },
    ),
    ...errors(["invalid_limit", "invalid_id", "invalid_parameter"]),
  },
};

const DELETE_PLANT: Json = {
  operationId: "deletePlant",
  tags: ["plants"],
  summary: "Delete a plant",
  description: `Returns once the deletion is durable.\n\n${scopeNote("plants:write")}`,
  parameters: [{ name: "id", in: "path", required: true, ...PATH_ID }, REQUEST_ID],
  responses: { 204: response("The plant was deleted."), ...errors(["invalid_id", "plant_not_found"]) },
};

const COMPONENTS: Json = {
  schemas: SCHEMAS,
  parameters: {
    requestId: {
      name: "X-Request-Id",
      in: "header",
      description: `Request id, which is returned in the response and logged by the server. Ignored unless it is 1 to ${REQUEST_ID_MAX_LENGTH} visible ASCII characters.`,
      schema: { type: "string" },
    },
  },
  headers: HEADERS,
  securitySchemes: {
    bearer: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "plt_ and 36 letters or digits",
      description:
        "A token acts for one owner and has the scopes `plants:read`, `plants:write` or both. The server may also accept tokens (JWTs) of an identity provider.",
    },
  },
};

const DESCRIPTION: Json = {
  openapi: "3.1.0",
  info: {
    title: "Plant Store",
    version: "1.0.0",
    description: INTRODUCTION,
    license: { name: "MIT", identifier: "MIT" },
  },
  security: [{ bearer: [] }],
  tags: [{ name: "plants", description: "Plants of the token's owner." }],
  paths: {
    "/plants": { get: LIST_PLANTS, post: CREATE_PLANT },
    "/plants/{id}": { delete: DELETE_PLANT },
  },
  components: COMPONENTS,
};

/** Returns the API description (OpenAPI 3.1.0) as JSON. */
export const describeApi = (): string => stringifyJson(DESCRIPTION, 2);
