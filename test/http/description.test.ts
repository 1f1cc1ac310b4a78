import { afterAll, describe, expect, it } from "bun:test";
import { stringifyJson } from "../../src/domain/json.ts";
import { mintSecret } from "../../src/domain/token.ts";
import { Api, type Reply } from "../support/api.ts";
import {
  type DescribedRequest,
  exampleRequest,
  type Json,
  type Operation,
  operationsOf,
  sendDescribed,
  serialize,
} from "../support/openapi-requests.ts";
import { newOwner, startService } from "../support/service.ts";

/*
 * Tests generated from the API description: calls every operation with valid requests and with requests that violate one
 * constraint each. `Api` validates every response against the description.
 */

const service = await startService();
const api = await Api.of(service);
const OPERATIONS = operationsOf(await (await fetch(`${service.url}/openapi.json`)).text());
afterAll(() => service.stop());

const send = (request: DescribedRequest, token: string | undefined) => sendDescribed(api, request, token);

/** A value of a parameter or field, with its description. */
type Candidate = [description: string, value: unknown];

/** Values of a wrong type: `text` for paths, queries and headers, `json` for bodies. */
const OTHER_TYPES: Record<string, { readonly text: readonly unknown[]; readonly json: readonly unknown[] }> = {
  integer: { text: ["x", "1.5", "1x", "0x1", "true", "null"], json: ["1", 1.5, true, null, [1], {}] },
  string: { text: [], json: [1, true, null, ["x"], {}] },
  object: { text: [], json: [1, true, null, [], ["x"]] },
  array: { text: [], json: [] },
};

/** Returns values that violate one constraint of a schema each. */
function violations(schema: Json, form: "text" | "json"): Candidate[] {
  const limit = (name: string): bigint[] => (schema[name] === undefined ? [] : [BigInt(schema[name] as number)]);
  const { pattern, items, type } = schema as { pattern?: string; items?: Json; type: string };
  // Header values are trimmed and cannot contain non-Latin characters.
  const unusual = form === "text" ? ["a b", "a\u00e9", ""] : [" ", "\t\n", "\u3000"];
  const byConstraint: Record<string, readonly unknown[]> = {
    type: OTHER_TYPES[type]?.[form] ?? [],
    minimum: limit("minimum").map((min) => min - 1n),
    maximum: limit("maximum").map((max) => max + 1n),
    minLength: limit("minLength").map((min) => "x".repeat(Number(min) - 1)),
    maxLength: limit("maxLength").map((max) => "x".repeat(Number(max) + 1)),
    pattern: pattern === undefined ? [] : unusual.filter((text) => !new RegExp(pattern).test(text)),
    enum: items === undefined ? [] : ["x", "ID", "id,x"],
    minItems: limit("minItems").map(() => []),
  };
  return Object.entries(byConstraint).flatMap(([constraint, values]) =>
    values.map((value): Candidate => [`that violates ${constraint}: ${serialize(value).slice(0, 30)}`, value]),
  );
}

/** Returns valid values at the bounds of a schema. */
function bounds(schema: Json): Candidate[] {
  const { minimum, maximum, minLength = 0, maxLength, examples = [], items } = schema as Record<string, never>;
  const options = (items as { enum: unknown[] } | undefined)?.enum ?? [];
  const lengths = schema["type"] === "string" && maxLength !== undefined ? [minLength, maxLength] : [];
  const values = [
    ...[minimum, maximum].filter((limit) => limit !== undefined),
    ...lengths.map((length) => "x".repeat(Number(length))),
    ...options.map((option) => [option]),
    ...(options.length === 0 ? [] : [options, options.toReversed()]),
    ...(examples as unknown[]),
  ];
  return values.map((value) => [`${serialize(value).slice(0, 30)}`, value]);
}

type Case = [description: string, request: DescribedRequest];

/** Returns copies of the example request that have one value replaced, for each candidate of each parameter and field. */
function variants(operation: Operation, candidatesOf: (schema: Json, form: "text" | "json") => Candidate[]): Case[] {
  const { parameters, body, ...rest } = exampleRequest(operation);
  const properties = Object.entries((operation.body?.schema["properties"] ?? {}) as Record<string, Json>);
  return [
    ...operation.parameters.flatMap(({ key, schema }) =>
      candidatesOf(schema, "text").map(
        ([description, value]): Case => [
          `a ${key} ${description}`,
          { ...rest, body, parameters: { ...parameters, [key]: value } },
        ],
      ),
    ),
    ...properties.flatMap(([name, schema]) =>
      candidatesOf(schema, "json").map(
        ([description, value]): Case => [
          `a body with ${name} ${description}`,
          { ...rest, parameters, body: { ...operation.body?.example, [name]: value } },
        ],
      ),
    ),
  ];
}

/** Returns requests with invalid bodies. */
function invalidBodies(operation: Operation): Case[] {
  const { body } = operation;
  if (body === undefined) return [];
  const base = exampleRequest(operation);
  const without = (left: string) => Object.fromEntries(Object.entries(body.example).filter(([name]) => name !== left));
  return [
    ...(body.schema["required"] as string[]).map((name): Case => [`without ${name}`, { ...base, body: without(name) }]),
    ...violations(body.schema, "json").map(
      ([description, value]): Case => [description, { ...base, body: stringifyJson(value) }],
    ),
    ["that is empty", { ...base, body: "" }],
    ["that is not JSON", { ...base, body: "{" }],
    ...["text/plain", "application/xml", "multipart/form-data"].map(
      (contentType): Case => [`with Content-Type ${contentType}`, { ...base, contentType }],
    ),
  ].map(([description, request]) => [`a body ${description}`, request] as Case);
}

/** Creates a token. For a delete request, its owner has the plant to delete. */
async function tokenFor({ operation, parameters }: DescribedRequest): Promise<string> {
  const owner = newOwner();
  const { "path id": id } = parameters as { "path id"?: number };
  if (operation.method === "DELETE" && id !== undefined) {
    await service.storage.insertPlant(owner, { id: BigInt(id), name: "x" }, undefined);
  }
  return service.token({ owner });
}

/** Returns a response without the headers that differ in every response. */
const comparable = ({ status, headers, text }: Reply) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !["date", "x-request-id"].includes(name)),
});

describe.each(OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  "%s",
  (_, operation) => {
    const base = exampleRequest(operation);

    it.each([...variants(operation, violations), ...invalidBodies(operation)])(
      "returns 400 for %s and changes nothing",
      async (_description, request) => {
        const token = await tokenFor(base);
        const before = await api.ids(token);
        expect((await send(request, token)).status).toBe(400);
        expect(await api.ids(token)).toEqual(before);
      },
    );

    const wrongScope = operation.method === "GET" ? "plants:write" : "plants:read";
    it.each<[string, () => Promise<string | undefined>, number]>([
      ["a missing token", async () => undefined, 401],
      ["an unknown token", async () => mintSecret(), 401],
      ["a malformed token", async () => "x", 401],
      ["an expired token", () => service.token({ expiresAt: 1 }), 401],
      ["a token without scopes", () => service.token({ scopes: [] }), 403],
      ["a token with the wrong scope", () => service.token({ scopes: [wrongScope] }), 403],
    ])("rejects %s and changes nothing", async (_description, makeToken, status) => {
      const token = await tokenFor(base);
      const before = await api.ids(token);
      expect((await send(base, await makeToken())).status).toBe(status);
      expect(await api.ids(token)).toEqual(before);
    });

    it.each([["the example", base] as Case, ...variants(operation, bounds)])(
      "accepts %s",
      async (_description, request) => {
        expect((await send(request, await tokenFor(request))).status).toBeOneOf([200, 204]);
      },
    );

    it("returns identical bytes whether or not other owners have plants", async () => {
      const without = comparable(await send(base, await service.token()));
      for (const id of [1n, 22n])
        await service.storage.insertPlant(newOwner(), { id, name: "other", tag: "vine" }, "key");
      expect(comparable(await send(base, await service.token()))).toEqual(without);
    });
  },
);

describe("each path of the description", () => {
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const undescribed = [...Map.groupBy(OPERATIONS, ({ path }) => path)].flatMap(([path, operations]) => {
    const described = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return METHODS.filter((method) => !described.includes(method)).map((method) => [method, path, described] as const);
  });

  it.each(undescribed)(
    "returns 405 for %s %s, with the described methods in Allow",
    async (method, path, described) => {
      const reply = await api.send(method, path.replace("{id}", "1"), { token: await service.token() });
      expect(reply.status).toBe(405);
      expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(described.toSorted());
    },
  );
});

describe("every field of a plant in the description", () => {
  it("is stored, listed and returned as it was created", async () => {
    const { body } = OPERATIONS.find(({ method }) => method === "POST") as Operation;
    const properties = Object.entries(body?.schema["properties"] as Record<string, { examples: unknown[] }>);
    const plant = Object.fromEntries(properties.map(([field, { examples }]) => [field, examples[0]]));
    const token = await service.token();
    const { id: _, ...created } = plant;
    expect((await api.create(token, plant)).body).toEqual(created);
    expect((await api.list(token)).body).toEqual([created]);
    expect((await api.list(token, `?fields=${Object.keys(plant)}`)).body).toEqual([plant]);
  });
});

describe("the plant of the examples", () => {
  it("can be created once, deleted once and created again", async () => {
    const byMethod = (method: string) => exampleRequest(OPERATIONS.find((each) => each.method === method) as Operation);
    const [create, example] = [byMethod("POST"), byMethod("DELETE")];
    const { id } = create.body as { id: unknown };
    const remove = { ...example, parameters: { ...example.parameters, "path id": id } };
    const token = await service.token();
    const statuses: number[] = [];
    for (const each of [remove, create, create, remove, remove, create])
      statuses.push((await send(each, token)).status);
    expect(statuses).toEqual([404, 200, 200, 204, 404, 200]);
    expect(await api.ids(token)).toEqual([String(id)]);
  });
});
