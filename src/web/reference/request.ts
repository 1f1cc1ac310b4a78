import type { Operation } from "./description.ts";

/** A request without the token. */
export interface ApiRequest {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A response as received. */
export type Reply = Awaited<ReturnType<typeof send>>;

/** Builds a request from the fields of a form: the parameters by name, and `body`. Leaves out empty parameters. */
export function buildRequest(
  { method, path, parameters, requestBody }: Operation,
  fields: Readonly<Record<string, string>>,
): ApiRequest {
  const headers: Record<string, string> = {};
  const query: string[] = [];
  let url = location.origin + path;
  for (const { name, in: part } of parameters) {
    const value = fields[name];
    if (!value) continue;
    // A comma separates the elements of a list.
    const encoded = encodeURIComponent(value).replaceAll("%2C", ",");
    if (part === "path") url = url.replace(`{${name}}`, encoded);
    else if (part === "query") query.push(`${name}=${encoded}`);
    else headers[name] = value;
  }
  if (query.length > 0) url += `?${query.join("&")}`;
  if (requestBody === undefined) return { method, url, headers };
  return { method, url, headers: { ...headers, "Content-Type": "application/json" }, body: fields["body"] ?? "" };
}

/** Returns the request as a command for a POSIX shell, with the token in the variable `TOKEN`. */
export function curlCommand({ method, url, headers, body }: ApiRequest): string {
  return [
    `curl -i -X ${method} ${quote(url)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(" \\\n  ");
}

/** Sends a request. The body of the reply stays text, so that no number is rounded. */
export async function send({ url, headers, ...request }: ApiRequest, token: string | null) {
  const authorization = token === null ? {} : { Authorization: `Bearer ${token}` };
  const startedMs = performance.now();
  const response = await fetch(url, { ...request, headers: { ...headers, ...authorization }, cache: "no-store" });
  const body = await response.text();
  return {
    status: `${response.status} ${response.statusText}`,
    milliseconds: Math.round(performance.now() - startedMs),
    headers: [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n"),
    body,
  };
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
