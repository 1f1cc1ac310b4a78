import { parseJson, stringifyJson } from "../../src/domain/json.ts";
import type { Api, Reply } from "./api.ts";

/** A JSON object of the API description. Its integers may be `bigint`. */
export type Json = Record<string, unknown>;

/** A parameter with its references resolved. */
interface Parameter {
  /** Its location (`path`, `query` or `header`) and name, separated by a space. */
  readonly key: string;
  readonly schema: Json;
  readonly example: unknown;
}

/** An operation with its references resolved. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Json; readonly example: Json } | undefined;
}

/** A request to an operation of the API description. */
export interface DescribedRequest {
  readonly operation: Operation;
  /** By {@link Parameter.key}, as JSON values. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** A JSON value; a string is sent unchanged. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Parses the operations of an API description. */
export function operationsOf(text: string): Operation[] {
  const description = parseJson(text) as Json;
  const resolve = (value: unknown): Json => {
    const { $ref } = value as { $ref?: string };
    if ($ref === undefined) return value as Json;
    const steps = $ref.slice(2).split("/");
    return resolve(steps.reduce<unknown>((each, step) => (each as Json)[step], description));
  };
  const read = (path: string, method: string, described: Json): Operation => {
    const parameters = (described["parameters"] as unknown[]).map(resolve);
    const content = (described["requestBody"] as Record<string, Json> | undefined)?.["content"]?.["application/json"];
    return {
      method: method.toUpperCase(),
      path,
      parameters: parameters.map(({ in: location, name, schema, example }) => ({
        key: `${location} ${name}`,
        schema: schema as Json,
        example,
      })),
      body: content === undefined ? undefined : bodyOf(content as Json, resolve),
    };
  };
  return Object.entries(description["paths"] as Record<string, Json>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => read(path, method, described as Json)),
  );
}

function bodyOf({ schema, examples }: Json, resolve: (value: unknown) => Json) {
  const [example] = Object.values(examples as Record<string, { value: Json }>);
  return { schema: resolve(schema), example: example?.value ?? {} };
}

/** Returns a request made of an operation's examples. */
export function exampleRequest(operation: Operation): DescribedRequest {
  const given = operation.parameters.filter(({ example }) => example !== undefined);
  const parameters = Object.fromEntries(given.map(({ key, example }) => [key, example]));
  const { body } = operation;
  return { operation, parameters, ...(body && { body: body.example, contentType: "application/json" }) };
}

/** Serializes a value for a path, query or header; lists are separated by commas. */
export function serialize(value: unknown): string {
  if (Array.isArray(value)) return value.join(",");
  return typeof value === "string" ? value : stringifyJson(value);
}

/** Sends a request of the API description. */
export function sendDescribed(api: Api, request: DescribedRequest, token: string | undefined): Promise<Reply> {
  const { operation, parameters, body, contentType } = request;
  const headers: Record<string, string> = contentType === undefined ? {} : { "Content-Type": contentType };
  const query: string[] = [];
  let { path } = operation;
  for (const [key, value] of Object.entries(parameters)) {
    const [location, name = ""] = key.split(" ");
    if (location === "path") path = path.replace(`{${name}}`, encodeURIComponent(serialize(value)));
    else if (location === "query") query.push(`${name}=${encodeURIComponent(serialize(value))}`);
    else headers[name] = serialize(value);
  }
  return api.send(operation.method, query.length === 0 ? path : `${path}?${query.join("&")}`, {
    headers,
    ...(token === undefined ? {} : { token }),
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : stringifyJson(body) }),
  });
}
