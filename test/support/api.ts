import assert from "node:assert/strict";
import { connect } from "node:net";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { statusOf } from "../../src/domain/error.ts";
import { stringifyJson } from "../../src/domain/json.ts";

/** A response. `text` is the exact body, `body` its JSON value with ids rounded to doubles. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: unknown;
  /** The error number of a failure. */
  readonly error: number | undefined;
}

export interface RequestOptions {
  readonly token?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
}

interface Reference {
  readonly $ref: string;
}

interface DocumentedHeader {
  readonly required?: boolean;
  readonly schema: object;
}

interface DocumentedResponse {
  readonly headers: Record<string, Reference>;
  readonly content?: { readonly "application/json": { readonly schema: object } };
}

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, DocumentedResponse>;
}

interface Description {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly headers: Record<string, DocumentedHeader>; readonly schemas: Record<string, object> };
}

/** Headers that the API description may omit: those of HTTP itself and those for browsers. */
const HTTP_HEADERS = ["connection", "content-length", "content-type", "date", "transfer-encoding", "vary"];
const BROWSER_HEADERS = ["access-control-allow-origin", "access-control-expose-headers", "x-content-type-options"];

/** Creates a JSON Schema validator for OpenAPI 3.1, with the formats and keywords that it adds. */
export function openApiAjv(): Ajv2020 {
  const between = (min: number, max: number) => ({
    type: "number" as const,
    validate: (value: number) => Number.isInteger(value) && value >= min && value <= max,
  });
  const formats = { int32: between(-(2 ** 31), 2 ** 31 - 1), int64: between(-(2 ** 63), 2 ** 63) };
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true, formats });
  return ajv.addVocabulary(["components", "example"]);
}

/** Calls the service and validates every response against its API description. */
export class Api {
  readonly #url: string;
  readonly #description: Description;
  readonly #ajv = openApiAjv();
  readonly #validators = new Map<object, ValidateFunction>();

  /** Creates an API client that validates against the API description of the service. */
  static async of({ url }: { readonly url: string }): Promise<Api> {
    const response = await fetch(`${url}/openapi.json`);
    return new Api(url, (await response.json()) as Description);
  }

  private constructor(url: string, description: Description) {
    this.#url = url;
    this.#description = description;
  }

  async send(method: string, path: string, { token, headers, body }: RequestOptions = {}): Promise<Reply> {
    const credentials = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const response = await fetch(this.#url + path, {
      method,
      headers: { ...credentials, ...headers },
      ...(body === undefined ? {} : { body: body as BodyInit }),
    });
    return this.#checked(method, path, toReply(response.status, response.headers, await response.text()));
  }

  /** Sends a request unchanged. It must contain `Connection: close`. */
  async sendRaw(request: string): Promise<Reply> {
    const [method = "", path = ""] = request.split(" ", 2);
    const response = await exchange(Number(new URL(this.#url).port), request);
    const [, status, head = "", text = ""] = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n(.*?)\r\n\r\n(.*)$/s.exec(response) ?? [];
    const headers = new Headers(head.split("\r\n").map((line) => line.split(/: ?(.*)/, 2) as [string, string]));
    return this.#checked(method, path, toReply(Number(status), headers, text));
  }

  create(token: string, plant: object | string | Uint8Array, headers: Record<string, string> = {}): Promise<Reply> {
    const body = typeof plant === "string" || plant instanceof Uint8Array ? plant : stringifyJson(plant);
    return this.send("POST", "/plants", { token, body, headers: { "Content-Type": "application/json", ...headers } });
  }

  list(token: string, query = ""): Promise<Reply> {
    return this.send("GET", `/plants${query}`, { token });
  }

  delete(token: string, id: bigint | number | string): Promise<Reply> {
    return this.send("DELETE", `/plants/${id}`, { token });
  }

  /** Lists the ids of the token owner's plants as digit strings, because they can exceed 2^53. */
  async ids(token: string, query = ""): Promise<string[]> {
    return idsIn(await this.list(token, `?fields=id${query}`));
  }

  #checked(method: string, path: string, reply: Reply): Reply {
    const { status, headers, text } = reply;
    const isHead = method === "HEAD";
    const about = `${method} ${path} -> ${status} ${text.slice(0, 500)}`;
    const pathname = path.replace(/\?.*$/s, "");
    assert.match(headers.get("x-request-id") ?? "", /^[\x21-\x7e]{1,128}$/, about);
    if (/^\/plants\b/.test(pathname)) assert.equal(headers.get("cache-control"), "no-store", about);
    if (isHead || status === 204) assert.equal(text, "", about);
    if (status >= 400) {
      assert.equal(headers.get("content-type"), "application/json", about);
      if (!isHead) this.#checkError(reply, about);
    }
    const operation = this.#operation(isHead ? "get" : method.toLowerCase(), pathname);
    if (operation === undefined) return reply;
    const documented = operation.responses[status];
    assert.ok(documented, `undocumented status: ${about}`);
    this.#checkHeaders(documented, headers, about);
    const content = documented.content?.["application/json"];
    assert.equal(content === undefined, status === 204, about);
    if (content === undefined || isHead) return reply;
    assert.equal(headers.get("content-type"), "application/json", about);
    this.#validate(content.schema, reply.body, about);
    return reply;
  }

  #checkError({ status, body, error }: Reply, about: string): void {
    assert.deepEqual(Object.keys(body as object).sort(), ["error", "message"], about);
    assert.ok(error !== undefined && statusOf(error) === status, about);
    this.#validate({ $ref: "#/components/schemas/Error" }, body, about);
  }

  #checkHeaders(documented: DocumentedResponse, headers: Headers, about: string): void {
    const names = [
      ...HTTP_HEADERS,
      ...BROWSER_HEADERS,
      ...Object.keys(documented.headers).map((name) => name.toLowerCase()),
    ];
    for (const name of headers.keys()) assert.ok(names.includes(name), `undocumented ${name}: ${about}`);
    for (const [name, { $ref }] of Object.entries(documented.headers)) {
      const header = this.#description.components.headers[$ref.replace("#/components/headers/", "")];
      assert.ok(header, $ref);
      const value = headers.get(name);
      if (value === null) assert.ok(header.required !== true, `${name} is missing: ${about}`);
      else
        this.#validate(
          header.schema,
          "type" in header.schema && header.schema.type === "integer" ? +value : value,
          about,
        );
    }
  }

  #validate(schema: object, value: unknown, about: string): void {
    let validator = this.#validators.get(schema);
    if (validator === undefined) {
      validator = this.#ajv.compile({ components: this.#description.components, ...schema });
      this.#validators.set(schema, validator);
    }
    assert.ok(validator(value), `${this.#ajv.errorsText(validator.errors)}: ${about}`);
  }

  #operation(method: string, pathname: string): Operation | undefined {
    const template = /^\/plants\/[^/]+$/.test(pathname) ? "/plants/{id}" : pathname;
    return this.#description.paths[template]?.[method];
  }
}

/** Returns the ids in a list response as digit strings, because they can exceed 2^53. */
export const idsIn = ({ text }: Reply): string[] => [...text.matchAll(/"id":(-?\d+)/g)].map(([, id]) => id as string);

/** Returns the URL of the next page from the `Link` header; `undefined` on the last page. */
export const nextOf = ({ headers }: Reply): string | undefined =>
  /^<([^>]*)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];

/** Sends bytes to a local port and resolves with all received bytes when the server closes the connection. */
export function exchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Uint8Array[] = [];
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  socket.on("data", (chunk: Uint8Array) => chunks.push(chunk));
  socket.on("error", reject);
  socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  return promise;
}

function toReply(status: number, headers: Headers, text: string): Reply {
  const isJson = text !== "" && headers.get("content-type") === "application/json";
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  const error = status >= 400 ? (body as { error?: number } | undefined)?.error : undefined;
  return { status, headers, text, body, error };
}
