import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ERRORS, statusOf } from "../../src/domain/error.ts";
import { LIMIT_MAX } from "../../src/domain/list-query.ts";
import {
  ID_MAX,
  ID_MIN,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  NAME_MAX_LENGTH,
  PLANT_FIELDS,
  TAG_MAX_LENGTH,
} from "../../src/domain/plant.ts";
import { SCOPES } from "../../src/domain/token.ts";
import { MAX_BODY_BYTES } from "../../src/http/body.ts";
import { openApiAjv } from "../support/api.ts";
import { type Service, startService } from "../support/service.ts";

type Json = Record<string, unknown>;

let service: Service;
let text: string;
let description: Json;

beforeAll(async () => {
  service = await startService();
  text = await (await fetch(`${service.url}/openapi.json`)).text();
  description = JSON.parse(text);
});
afterAll(() => service.stop());

/** Returns the value at a path of keys. */
const at = (...keys: string[]): unknown => keys.reduce((value: unknown, key) => (value as Json)[key], description);

/** Yields every object in the description with its path. */
function* objects(value: unknown, path = "#"): Generator<[string, Json]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Json];
  for (const [key, each] of Object.entries(value)) yield* objects(each, `${path}/${key}`);
}

const ownParameters = (path: string, method: string) =>
  (at("paths", path, method, "parameters") as Json[]).filter((each) => each["$ref"] === undefined);

const operations = () =>
  Object.entries(description["paths"] as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== "parameters")
      .map(([method, operation]) => ({ path, method, operation: operation as Json })),
  );

const responses = () =>
  operations().flatMap(({ operation }) =>
    Object.entries(operation["responses"] as Record<string, Json>).map(([status, response]) => ({
      name: `${operation["operationId"]} ${status}`,
      status: Number(status),
      response,
    })),
  );

const examplesOf = (response: Json): { error: number; message: string }[] => {
  const content = response["content"] as { "application/json": { examples: Record<string, { value: never }> } };
  return Object.values(content["application/json"].examples).map(({ value }) => value);
};

describe("GET /openapi.json", () => {
  it("returns valid OpenAPI 3.1.0 for API version 1.0.0", async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(text));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, validator.version]).toEqual([true, "3.1"]);
    expect(description).toMatchObject({ openapi: "3.1.0", info: { title: "Plant Store", version: "1.0.0" } });
  });

  it("describes the three operations and no others", () => {
    const described = operations().map(({ path, method, operation }) => [method, path, operation["operationId"]]);
    expect(described.toSorted()).toEqual([
      ["delete", "/plants/{id}", "deletePlant"],
      ["get", "/plants", "listPlants"],
      ["post", "/plants", "createPlant"],
    ]);
  });

  it("requires a bearer token for every operation and names the scope", () => {
    expect(at("security")).toEqual([{ bearer: [] }]);
    expect(at("components", "securitySchemes", "bearer")).toMatchObject({ type: "http", scheme: "bearer" });
    for (const { method, operation } of operations()) {
      expect(operation).not.toHaveProperty("security");
      expect(operation["description"]).toContain(method === "get" ? SCOPES[0] : SCOPES[1]);
    }
  });

  it("has the exact int64 bounds", () => {
    const minimums = text.match(/"minimum": ?-\d{10,}/g) ?? [];
    const maximums = text.match(/"maximum": ?\d{15,}/g) ?? [];
    expect(new Set(minimums.map((each) => each.replace(/\D*(?=-)/, "")))).toEqual(new Set([String(ID_MIN)]));
    expect(new Set(maximums.map((each) => each.replace(/\D*/, "")))).toEqual(new Set([String(ID_MAX)]));
    expect([minimums.length, maximums.length]).toEqual([4, 4]);
  });

  it("has the same limits as the domain", () => {
    const id = { type: "integer", format: "int64", minimum: Number(ID_MIN), maximum: Number(ID_MAX) };
    const name = { type: "string", minLength: 1, maxLength: NAME_MAX_LENGTH };
    const tag = { type: "string", maxLength: TAG_MAX_LENGTH };
    expect(at("components", "schemas", "NewPlant")).toMatchObject({
      type: "object",
      required: ["id", "name"],
      properties: { id, name, tag },
    });
    expect(at("components", "schemas", "Plant")).toMatchObject({ required: ["name"], properties: { name, tag } });
    expect(at("components", "schemas", "Plant", "properties")).not.toHaveProperty("id");
    expect(at("components", "schemas", "ListedPlant", "properties")).toMatchObject({ id, name, tag });
    expect(ownParameters("/plants", "get")).toMatchObject([
      { name: "limit", in: "query", schema: { type: "integer", format: "int32", minimum: 1, maximum: LIMIT_MAX } },
      { name: "after", in: "query", schema: id },
      { name: "tag", in: "query", schema: tag },
      { name: "fields", in: "query", explode: false, schema: { type: "array", items: { enum: [...PLANT_FIELDS] } } },
    ]);
    expect(ownParameters("/plants", "post")).toMatchObject([
      { name: "Idempotency-Key", in: "header", schema: { minLength: 1, maxLength: IDEMPOTENCY_KEY_MAX_LENGTH } },
    ]);
    expect(ownParameters("/plants/{id}", "delete")).toMatchObject([
      { name: "id", in: "path", required: true, schema: id },
    ]);
    expect(at("paths", "/plants", "post", "description")).toContain(String(MAX_BODY_BYTES));
  });

  it("describes Error with exactly an int32 error and a message", () => {
    const { properties, required, type } = at("components", "schemas", "Error") as Json;
    expect([type, required, Object.keys(properties as Json)]).toEqual([
      "object",
      ["error", "message"],
      ["error", "message"],
    ]);
    expect(properties).toMatchObject({ error: { type: "integer", format: "int32" }, message: { type: "string" } });
  });

  it("lists every error number with its meaning", () => {
    const texts = [...objects(description)].map(([, each]) => each["description"]).join("\n");
    const rows = [...texts.matchAll(/^\| (\d+) \| (.*) \|$/gm)];
    const table = rows.map(([, number, meaning]) => [Number(number), meaning]);
    expect(table).toEqual(Object.values(ERRORS).map(({ number, meaning }) => [number, meaning]));
  });

  it("documents the error responses of each operation, with numbers, examples and headers", () => {
    const pathErrors = [ERRORS.path_not_found.number, ERRORS.method_not_allowed.number];
    const documented = new Set<number>();
    for (const { name, status, response } of responses().filter((each) => each.status >= 400)) {
      const numbers = examplesOf(response).map(({ error }) => error);
      const schema = JSON.stringify(response["content"]);
      expect([name, numbers.map(statusOf)]).toEqual([name, numbers.map(() => status)]);
      expect(schema).toContain(`"enum":${JSON.stringify(numbers)}`);
      for (const number of numbers) {
        documented.add(number);
        expect(response["description"]).toContain(String(number));
      }
      const headers = Object.keys(response["headers"] as Json);
      expect(headers).toContain("X-Request-Id");
      if (status === 401 || status === 403) expect(headers).toContain("WWW-Authenticate");
      if (status === 429 || status === 503) expect(headers).toContain("Retry-After");
    }
    const all = Object.values(ERRORS).map(({ number }) => number as number);
    expect(documented).toEqual(new Set(all.filter((number) => !(pathErrors as number[]).includes(number))));
  });

  it("documents the success responses", () => {
    const successes = responses().filter(({ status }) => status < 400);
    expect(successes.map(({ name }) => name).toSorted()).toEqual([
      "createPlant 200",
      "deletePlant 204",
      "listPlants 200",
    ]);
    for (const { status, response } of successes) expect("content" in response).toBe(status === 200);
  });

  it("has only examples that match their schemas", () => {
    const ajv = openApiAjv();
    let count = 0;
    const check = (path: string, schema: object, value: unknown) => {
      const isValid = ajv.validate({ components: description["components"], ...schema }, value);
      expect([path, isValid, ajv.errorsText()]).toEqual([path, true, "No errors"]);
      count++;
    };
    for (const [path, each] of objects(description)) {
      const { schema, example, examples } = each as {
        schema?: object;
        example?: unknown;
        examples?: Record<string, Json>;
      };
      if (Array.isArray(examples)) for (const value of examples) check(path, each, value);
      if (schema === undefined) continue;
      if (example !== undefined) check(path, schema, example);
      else for (const [name, { value }] of Object.entries(examples ?? {})) check(`${path} ${name}`, schema, value);
    }
    expect(count).toBeGreaterThan(30);
  });
});
