import { afterAll, describe, expect, it } from "bun:test";
import { stringifyJson } from "../src/domain/json.ts";
import { mintSecret } from "../src/domain/token.ts";
import { Api, type Reply } from "./support/api.ts";
import {
  type DescribedRequest,
  exemplary,
  type Json,
  type Operation,
  operationsOf,
  sendDescribed,
  written,
} from "./support/described.ts";
import { newOwner, startService } from "./support/service.ts";

/*
 * For whoever knows nothing but the description: every operation is called as it says, and against what it says, one
 * constraint after another. `Api` holds each answer against the description too.
 */

const service = await startService();
const api = await Api.of(service);
const OPERATIONS = operationsOf(await (await fetch(`${service.url}/openapi.json`)).text());
afterAll(() => service.stop());

const send = (request: DescribedRequest, token: string | undefined) => sendDescribed(api, request, token);

/** A value for some place, and what is said of it. */
type Trial = [what: string, value: unknown];

/** What no schema of a type allows: as texts in a path, a query or a header, as JSON values in a body. */
const OTHER_TYPES: Record<string, { readonly text: readonly unknown[]; readonly json: readonly unknown[] }> = {
  integer: { text: ["x", "1.5", "1x", "0x1", "true", "null"], json: ["1", 1.5, true, null, [1], {}] },
  string: { text: [], json: [1, true, null, ["x"], {}] },
  object: { text: [], json: [1, true, null, [], ["x"]] },
  array: { text: [], json: [] },
};

/** Values that a schema does not allow. Each violates one constraint. */
function violations(schema: Json, form: "text" | "json"): Trial[] {
  const limit = (name: string): bigint[] => (schema[name] === undefined ? [] : [BigInt(schema[name] as number)]);
  const { pattern, items, type } = schema as { pattern?: string; items?: Json; type: string };
  // A header's value is trimmed, and has only bytes.
  const odd = form === "text" ? ["a b", "a\u00e9", ""] : [" ", "\t\n", "\u3000"];
  const byConstraint: Record<string, readonly unknown[]> = {
    type: OTHER_TYPES[type]?.[form] ?? [],
    minimum: limit("minimum").map((least) => least - 1n),
    maximum: limit("maximum").map((most) => most + 1n),
    minLength: limit("minLength").map((least) => "x".repeat(Number(least) - 1)),
    maxLength: limit("maxLength").map((most) => "x".repeat(Number(most) + 1)),
    pattern: pattern === undefined ? [] : odd.filter((text) => !new RegExp(pattern).test(text)),
    enum: items === undefined ? [] : ["x", "ID", "id,x"],
    minItems: limit("minItems").map(() => []),
  };
  return Object.entries(byConstraint).flatMap(([constraint, values]) =>
    values.map((value): Trial => [`against its ${constraint}: ${written(value).slice(0, 30)}`, value]),
  );
}

/** Values that a schema allows, at its bounds. */
function bounds(schema: Json): Trial[] {
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
  return values.map((value) => [`of ${written(value).slice(0, 30)}`, value]);
}

type Case = [what: string, request: DescribedRequest];

/** The exemplary request with one value in place of its own, for every trial of every value that it has. */
function variants(operation: Operation, trialsOf: (schema: Json, form: "text" | "json") => Trial[]): Case[] {
  const { parameters, body, ...rest } = exemplary(operation);
  const properties = Object.entries((operation.body?.schema["properties"] ?? {}) as Record<string, Json>);
  return [
    ...operation.parameters.flatMap(({ key, schema }) =>
      trialsOf(schema, "text").map(
        ([what, value]): Case => [`a ${key} ${what}`, { ...rest, body, parameters: { ...parameters, [key]: value } }],
      ),
    ),
    ...properties.flatMap(([name, schema]) =>
      trialsOf(schema, "json").map(
        ([what, value]): Case => [
          `a body's ${name} ${what}`,
          { ...rest, parameters, body: { ...operation.body?.example, [name]: value } },
        ],
      ),
    ),
  ];
}

/** Bodies that are none for an operation. */
function otherBodies(operation: Operation): Case[] {
  const { body } = operation;
  if (body === undefined) return [];
  const base = exemplary(operation);
  const without = (left: string) => Object.fromEntries(Object.entries(body.example).filter(([name]) => name !== left));
  return [
    ...(body.schema["required"] as string[]).map((name): Case => [`no ${name}`, { ...base, body: without(name) }]),
    ...violations(body.schema, "json").map(([what, value]): Case => [what, { ...base, body: stringifyJson(value) }]),
    ["nothing", { ...base, body: "" }],
    ["what is no JSON", { ...base, body: "{" }],
    ...["text/plain", "application/xml", "multipart/form-data"].map(
      (contentType): Case => [contentType, { ...base, contentType }],
    ),
  ].map(([what, request]) => [`a body of ${what}`, request] as Case);
}

/** A token for an owner who has what a request means to delete. */
async function tokenFor({ operation, parameters }: DescribedRequest): Promise<string> {
  const owner = newOwner();
  const { "path id": id } = parameters as { "path id"?: number };
  if (operation.method === "DELETE" && id !== undefined) {
    await service.storage.insertPlant(owner, { id: BigInt(id), name: "x" }, undefined);
  }
  return service.token({ owner });
}

/** What may be seen of an answer, but for what differs between any two. */
const visible = ({ status, headers, text }: Reply) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !["date", "x-request-id"].includes(name)),
});

describe.each(OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
  "%s",
  (_, operation) => {
    const base = exemplary(operation);

    it.each([["what its examples say", base] as Case, ...variants(operation, bounds)])(
      "takes %s",
      async (_what, request) => {
        expect((await send(request, await tokenFor(request))).status).toBeOneOf([200, 204]);
      },
    );

    it.each([...variants(operation, violations), ...otherBodies(operation)])(
      "refuses %s, and does nothing",
      async (_what, request) => {
        const token = await tokenFor(base);
        const before = await api.ids(token);
        expect((await send(request, token)).status).toBe(400);
        expect(await api.ids(token)).toEqual(before);
      },
    );

    const otherScope = operation.method === "GET" ? "plants:write" : "plants:read";
    it.each<[string, () => Promise<string | undefined>, number]>([
      ["no token", async () => undefined, 401],
      ["an unknown token", async () => mintSecret(), 401],
      ["a malformed token", async () => "x", 401],
      ["an expired token", () => service.token({ expiresAt: 1 }), 401],
      ["a token without scopes", () => service.token({ scopes: [] }), 403],
      ["a token of the other scope", () => service.token({ scopes: [otherScope] }), 403],
    ])("does nothing with %s", async (_what, makeToken, status) => {
      const token = await tokenFor(base);
      const before = await api.ids(token);
      expect((await send(base, await makeToken())).status).toBe(status);
      expect(await api.ids(token)).toEqual(before);
    });

    it("answers the same, to the byte, whatever other owners have", async () => {
      const without = visible(await send(base, await service.token()));
      for (const id of [1n, 22n])
        await service.storage.insertPlant(newOwner(), { id, name: "theirs", tag: "vine" }, "key");
      expect(visible(await send(base, await service.token()))).toEqual(without);
    });
  },
);

describe("every path of the description", () => {
  const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
  const refused = [...Map.groupBy(OPERATIONS, ({ path }) => path)].flatMap(([path, operations]) => {
    const described = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    return METHODS.filter((method) => !described.includes(method)).map((method) => [method, path, described] as const);
  });

  it.each(refused)("answers 405 to %s %s, and allows what is described", async (method, path, described) => {
    const reply = await api.send(method, path.replace("{id}", "1"), { token: await service.token() });
    expect(reply.status).toBe(405);
    expect(reply.headers.get("allow")?.split(", ").toSorted()).toEqual(described.toSorted());
  });
});

describe("a plant that was described", () => {
  it("can be deleted once, and made again", async () => {
    const byMethod = (method: string) => exemplary(OPERATIONS.find((each) => each.method === method) as Operation);
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
