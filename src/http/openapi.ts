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

/** A header value as `isVisibleAscii` takes it. */
const visibleAscii = (maxLength: number) => ({ type: "string", minLength: 1, maxLength, pattern: "^[\\x21-\\x7e]+$" });

/** What can go wrong in any operation. */
const COMMON_FAILURES: readonly ErrorCode[] = [
  "multiple_credentials",
  "unauthenticated",
  "invalid_token",
  "insufficient_scope",
  "too_many_requests",
  "internal",
  "unavailable",
];

/** The headers that go with a status, on top of those of every response, by name. */
const HEADERS_BY_STATUS: Record<number, Readonly<Record<string, keyof typeof HEADERS>>> = {
  400: { "WWW-Authenticate": "OptionalChallenge" },
  401: { "WWW-Authenticate": "Challenge" },
  403: { "WWW-Authenticate": "Challenge" },
  429: { "Retry-After": "Retry-After", RateLimit: "RateLimit", "RateLimit-Policy": "RateLimit-Policy" },
  503: { "Retry-After": "Retry-After" },
};

/** The interface description, OpenAPI 3.1.0, as a JSON text: its limits are those that the domain checks by. */
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
      tags: [{ name: "plants", description: "The plants of the token's owner." }],
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
    description: `Answered once the plant is durable. A refused create changes nothing. The body is at most ${MAX_BODY_BYTES} bytes.\n\n${scopeNote("plants:write")}`,
    parameters: [
      {
        name: "Idempotency-Key",
        in: "header",
        description:
          "Makes it safe to ask again: a repeat with the same key, id and plant succeeds, for as long as the plant exists.",
        schema: visibleAscii(IDEMPOTENCY_KEY_MAX_LENGTH),
        example: "5f3c1d0e-7a53-4b0e-8d0c-0c1f2f6b9a11",
      },
      ref("parameters", "requestId"),
    ],
    requestBody: { required: true, content: jsonContent(ref("schemas", "NewPlant"), NEW_PLANT_EXAMPLES) },
    responses: {
      200: {
        ...success("The plant, durable.", jsonContent(ref("schemas", "Plant"), PLANT_EXAMPLES)),
        links: { deletePlant: { operationId: "deletePlant", parameters: { id: "$request.body#/id" } } },
      },
      ...failures([
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
    description: `In ascending order of id. A list that starts after a create or delete was answered reflects it. A plant that exists for the whole of the listing appears exactly once.\n\n${scopeNote("plants:read")}`,
    parameters: [
      ...Object.entries(LIST_PARAMETER_SCHEMAS).map(([name, parameter]) => ({ name, in: "query", ...parameter })),
      ref("parameters", "requestId"),
    ],
    responses: {
      200: success("The plants.", jsonContent(list, LIST_EXAMPLES), { Link: ref("headers", "Link") }),
      ...failures(["invalid_limit", "invalid_id", "invalid_parameter"]),
    },
  };
}

function deletePlant(): Json {
  return {
    operationId: "deletePlant",
    tags: ["plants"],
    summary: "Delete a plant",
    description: `Answered once the deletion is durable.\n\n${scopeNote("plants:write")}`,
    parameters: [{ name: "id", in: "path", required: true, ...PATH_ID }, ref("parameters", "requestId")],
    responses: {
      204: success("The plant is gone."),
      ...failures(["invalid_id", "plant_not_found"]),
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
        description: `Comes back in the response and stands in the server's log. What is not 1 to ${REQUEST_ID_MAX_LENGTH} visible ASCII characters is passed over.`,
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
          "A token acts for one owner and carries the scopes `plants:read`, `plants:write` or both. A server may take tokens (JWT) of an identity provider too.",
      },
    },
  };
}

/** The failures of an operation, by status, each with its numbers and an example of each. */
function failures(own: readonly ErrorCode[]): Json {
  const byStatus = Map.groupBy([...own, ...COMMON_FAILURES], (code) => statusOf(ERRORS[code].number));
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const numbers = codes.map((code) => ERRORS[code].number);
      const schema = { allOf: [ref("schemas", "Error")], properties: { error: { enum: numbers } } };
      const examples = Object.fromEntries(
        codes.map((code) => [code, { value: { error: ERRORS[code].number, message: ERRORS[code].when } }]),
      );
      const headers = Object.entries(HEADERS_BY_STATUS[status] ?? {}).map(([name, key]) => [name, ref("headers", key)]);
      const description = codes.map((code) => `\`${ERRORS[code].number}\` ${ERRORS[code].when}`).join(" · ");
      return [status, success(description, jsonContent(schema, examples), Object.fromEntries(headers))];
    }),
  );
}

const success = (description: string, content?: Json, headers: Json = {}): Json => ({
  description,
  headers: {
    "X-Request-Id": ref("headers", "X-Request-Id"),
    "Cache-Control": ref("headers", "Cache-Control"),
    ...headers,
  },
  ...(content === undefined ? {} : { content }),
});

const jsonContent = (schema: Json, examples: Json): Json => ({ "application/json": { schema, examples } });

const scopeNote = (scope: Scope): string => `Needs a token with the scope \`${scope}\`.`;
