/** Placeholder for an id in a path or a body. The load generator replaces it with a different id in each request. */
export const ID = "{id}";

/** All ids have 11 digits, so that a request's `Content-Length` is constant. */
export const FIRST_ID = 10_000_000_000;
/** Distance between seeded ids, which leaves room for creates in between. */
export const ID_STEP = 1_000;
/** First id for creates with ascending ids. */
export const FIRST_NEW_ID = 40_000_000_000;
/** First id for creates by {@link probe}. */
const FIRST_PROBE_ID = 90_000_000_000;

/** A request and its expected response. */
export interface Exchange {
  readonly method: "GET" | "POST" | "DELETE";
  /** Includes the query; may contain {@link ID}. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** May contain {@link ID}. */
  readonly body?: string;
  readonly status: number;
  /** Checks the body of a response. */
  isExpected(body: string): boolean;
}

/** A recorded response that a limit replays. */
export interface CannedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Serializes a request as HTTP/1.1, including the placeholder for its id. */
export function serialize({ method, path, headers, body }: Exchange, url: string): string {
  const lines = Object.entries({ Host: new URL(url).host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === undefined ? "" : `Content-Length: ${withId(body, FIRST_ID).length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}${length}\r\n${body ?? ""}`;
}

/** The first seeded plants, which only {@link probe} deletes. */
export const PROBE_PLANTS = 100;
let probeCount = 0;

/**
 * Sends a request once and checks status and body.
 * @throws Error on an unexpected response
 */
export async function probe(url: string, exchange: Exchange): Promise<CannedResponse> {
  const { method, path, headers, body, status } = exchange;
  const number = probeCount++;
  const id = method === "DELETE" ? FIRST_ID + (number % PROBE_PLANTS) * ID_STEP : FIRST_PROBE_ID + number;
  const response = await fetch(url + withId(path, id), {
    method,
    headers,
    ...(body === undefined ? {} : { body: withId(body, id) }),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  if (response.status !== status || !exchange.isExpected(text)) {
    throw new Error(`${method} ${path} returned ${response.status} ${text.slice(0, 200)}`);
  }
  return { status, headers: Object.fromEntries(response.headers), body: text };
}

const withId = (text: string, id: number): string => text.replaceAll(ID, String(id));
