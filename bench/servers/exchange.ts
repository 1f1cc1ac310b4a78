/** Stands for an id in the path or the body of a request: the load puts another one there each time. */
export const ID = "{id}";

/** Every id that is used here has 11 digits, so that all requests of a kind are equally long. */
export const FIRST_ID = 10_000_000_000;
/** Between the ids of the plants that a store begins with: room for creates in between. */
export const ID_STEP = 1_000;
/** Plants that a load creates at ascending ids begin here. */
export const FIRST_NEW_ID = 40_000_000_000;
/** Those of the probes begin here. */
const FIRST_PROBE_ID = 90_000_000_000;

/** A request and what is the right answer to it. */
export interface Exchange {
  readonly method: "GET" | "POST" | "DELETE";
  /** With its query; may hold {@link ID}. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** May hold {@link ID}. */
  readonly body?: string;
  readonly status: number;
  /** Whether the body of an answer is right. */
  isRight(body: string): boolean;
}

/** What a server was seen to answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The bytes of a request as the load sends them, its id still open. */
export function toBytes({ method, path, headers, body }: Exchange, url: string): string {
  const lines = Object.entries({ Host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === undefined ? "" : `Content-Length: ${withId(body, FIRST_ID).length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}${length}\r\n${body ?? ""}`;
}

/** Plants at the beginning of a store that are left to the probes, to delete. */
export const PROBED = 100;
let probes = 0;

/**
 * Asks once and looks at the answer closely.
 * @throws Error when it is not the right one
 */
export async function probe(url: string, exchange: Exchange): Promise<Answer> {
  const { method, path, headers, body, status } = exchange;
  const number = probes++;
  const id = method === "DELETE" ? FIRST_ID + (number % PROBED) * ID_STEP : FIRST_PROBE_ID + number;
  const response = await fetch(url + withId(path, id), {
    method,
    headers,
    ...(body === undefined ? {} : { body: withId(body, id) }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (response.status !== status || !exchange.isRight(text)) {
    throw new Error(`${method} ${path} was answered ${response.status} ${text.slice(0, 200)}`);
  }
  return { status, headers: Object.fromEntries(response.headers), body: text };
}

const withId = (text: string, id: number): string => text.replaceAll(ID, String(id));
