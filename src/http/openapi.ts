import { ERRORS, type ErrorCode, statusOf } from "../domain/error.ts";
import { stringifyJson } from "../domain/json.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../domain/plant.ts";
import type { Scope } from "../domain/token.ts";
import { MAX_BODY_BYTES } from "./body.ts";
import { REQUEST_ID_MAX_LENGTH } from "./call.ts";
import { HEADERS, INTRODUCTION, LIST_EXAMPLES, NEW_PLANT_EXAMPLES, PLANT_EXAMPLES } from "./openapi-texts.ts";
import { LIST_PARAMETER_SCHEMAS, PATH_ID, SCHEMAS } from "./schemas.ts";

type Json = Record<string, unknown>;

const ref = (kind: "schemas" | "headers" | "parameters", name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Schema of header values that `isVisibleAscii` accepts. */
const visibleAscii = (maxLength: number) => ({ type: "string", minLength: 1, maxLength, pattern: "^[\\x21-\\x7e]+$" });

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

/** Additional headers of a status, by name. */
const HEADERS_BY_STATUS: Record<number, Readonly<Record<string, keyof typeof HEADERS>>> = {
  400: { "WWW-Authenticate": "OptionalChallenge" },
  401: { "WWW-Authenticate": "Challenge" },
  403: { "WWW-Authenticate": "Challenge" },
  429: { "Retry-After": "Retry-After", RateLimit: "RateLimit", "RateLimit-Policy": "RateLimit-Policy" },
  503: { "Retry-After": "Retry-After" },
};

/** Returns the API description (OpenAPI 3.1.0) as JSON. Its limits come from the constants of the domain. */
export function describeApi(): string {
  return stringifyJson(
    {
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
        "/plants": { get: listPlants(), post: createPlant() },
        "/plants/{id}": { delete: deletePlant() },
      },
      components: components(),
    },
    2,
  );
}

function createPlant(): Json {
  return {
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
        schema: visibleAscii(IDEMPOTENCY_KEY_MAX_LENGTH),
        example: "5f3c1d0e-7a53-4b0e-8d0c-0c1f2f6b9a11",
      },
      ref("parameters", "requestId"),
    ],
    requestBody: { required: true, content: jsonContent(ref("schemas", "NewPlant"), NEW_PLANT_EXAMPLES) },
    responses: {
      200: {
        ...response("The created plant.", jsonContent(ref("schemas", "Plant"), PLANT_EXAMPLES)),
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
}

function listPlants(): Json {
  const list = { type: "array", items: ref("schemas", "ListedPlant") };
  return {
    operationId: "listPlants",
    tags: ["plants"],
    summary: "List plants",
    description: `Returns plants ordered by ascending id. A list that starts after a create or delete was acknowledged reflects it. A plant that exists throughout the listing appears exactly once.\n\n${scopeNote("plants:read")}`,
    parameters: [
      ...Object.entries(LIST_PARAMETER_SCHEMAS).map(([name, parameter]) => ({ name, in: "query", ...parameter })),
      ref("parameters", "requestId"),
    ],
    responses: {
      200: response("A page of plants, or all plants without `limit`.", jsonContent(list, LIST_EXAMPLES), {
        Link: ref("headers", "Link"),
      }),
      ...errors(["invalid_limit", "invalid_id", "invalid_parameter"]),
    },
  };
}

function deletePlant(): Json {
  return {
    operationId: "deletePlant",
    tags: ["plants"],
    summary: "Delete a plant",
    description: `Returns once the deletion is durable.\n\n${scopeNote("plants:write")}`,
    parameters: [{ name: "id", in: "path", required: true, ...PATH_ID }, ref("parameters", "requestId")],
    responses: {
      204: response("The plant was deleted."),
      ...errors(["invalid_id", "plant_not_found"]),
    },
  };
}

function components(): Json {
  return {
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
}

/** Returns the error responses of an operation by status, with the error numbers and an example of each error. */
function errors(own: readonly ErrorCode[]): Json {
  const byStatus = Map.groupBy([...own, ...COMMON_ERRORS], (code) => statusOf(ERRORS[code].number));
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const numbers = codes.map((code) => ERRORS[code].number);
      const schema = { allOf: [ref("schemas", "Error")], properties: { error: { enum: numbers } } };
      const examples = Object.fromEntries(
        codes.map((code) => [code, { value: { error: ERRORS[code].number, message: ERRORS[code].when } }]),
      );
      const headers = Object.entries(HEADERS_BY_STATUS[status] ?? {}).map(([name, key]) => [name, ref("headers", key)]);
      const description = codes.map((code) => `\`${ERRORS[code].number}\` ${ERRORS[code].when}`).join(" · ");
      return [status, response(description, jsonContent(schema, examples), Object.fromEntries(headers))];
    }),
  );
}

const response = (description: string, content?: Json, headers: Json = {}): Json => ({
  description,
  headers: {
    "X-Request-Id": ref("headers", "X-Request-Id"),
    "Cache-Control": ref("headers", "Cache-Control"),
    ...headers,
  },
  ...(content === undefined ? {} : { content }),
});

const jsonContent = (schema: Json, examples: Json): Json => ({ "application/json": { schema, examples } });

const scopeNote = (scope: Scope): string => `Requires the scope \`${scope}\`.`;
