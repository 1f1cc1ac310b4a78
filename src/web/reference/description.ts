import { parseJson } from "../../domain/json.ts";

/** A JSON Schema. Integers above 2^53 are `bigint`. */
export interface Schema {
  /** The name of a schema under `components`. */
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly allOf?: readonly [Schema];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** Other keywords, such as `minimum`. */
  readonly [limit: string]: unknown;
}

/** A parameter, a response header or a field. */
export interface Parameter {
  readonly name: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly description?: string | undefined;
  readonly schema: Schema;
  readonly example?: unknown;
}

/** A request body or a response. */
export interface Message {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly content?: {
    readonly "application/json": { readonly schema: Schema; readonly examples: Record<string, { value: unknown }> };
  };
}

/** A method of a path. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Message;
  readonly responses: Readonly<Record<string, Message>>;
}

/** An OpenAPI 3.1 description without references. */
export interface ApiDescription {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: { readonly bearer: { readonly description: string } };
  };
}

/** Fetches the API description and replaces each `$ref` by its target. */
export async function loadDescription(): Promise<ApiDescription> {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`The server returned ${response.status}.`);
  const root = parseJson(await response.text());
  const resolve = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    if (!("$ref" in value)) return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolve(part)]));
    const keys = String(value.$ref).slice("#/".length).split("/");
    const target = keys.reduce((part, key) => (part as Record<string, unknown>)[key], root);
    return { title: keys.at(-1), ...(resolve(target) as object) };
  };
  return resolve(root) as ApiDescription;
}

/** Returns all operations with their methods and paths. */
export const operationsOf = ({ paths }: ApiDescription): Operation[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );

/** Returns the name of the schema of an object, or of the objects in an array. */
export const schemaName = ({ title, items, allOf }: Schema): string | undefined =>
  title ?? (items ?? allOf?.[0])?.title;

/** Returns the limits of a value by keyword, such as `maxLength: 255`. */
export function limitsOf({ items, ...schema }: Schema): string[] {
  const { title, description, type, format, examples, ...limits } = schema;
  const own = Object.entries(limits).map(([keyword, value]) => `${keyword}: ${value}`);
  return items === undefined ? own : [...limitsOf(items), ...own];
}
