/** A malformed or unusual exchange on one connection, and its expected outcome. */
export interface Exchange {
  /** The name of the test. */
  readonly name: string;
  /** The bytes to send, one per character (ISO 8859-1). {@link TOKEN} is replaced by the token of a new owner. */
  readonly send: string;
  /** Indexes at which the client pauses until the server has read all earlier bytes. */
  readonly pauses?: readonly number[];
  /** After the last byte, the client closes its half of the connection, or resets the connection; by default it waits. */
  readonly clientEnds?: "half" | "reset";
  /** All responses, in order: the number of an `Error`, or the status of any other response. */
  readonly responses: readonly number[];
  /** All responses if the server responds before it notices that the client is gone. */
  readonly alternativeResponses?: readonly number[];
  /** `open` if another request gets its own response, `closed` if the server closes, at the latest at the idle timeout. */
  readonly connection: "open" | "closed";
  /** The ids of the owner's plants afterwards. Before the exchange, the owner has {@link EXISTING_ID}. */
  readonly plants: readonly number[];
}

/** The id of the plant that each owner has before its exchange. */
export const EXISTING_ID = 1;
/** The id of the plant that an exchange creates. */
export const CREATED_ID = 2;
/** Placeholder with the length of a token, so that a `Content-Length` stays correct when it is replaced. */
export const TOKEN = "<the token>".padEnd(40, ".");

const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`;
const JSON_TYPE = "Content-Type: application/json";

/** Returns the start line and headers of a message. */
export const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

/** An authorized request without a body. */
export const request = (method: string, target: string, ...headers: string[]): string =>
  head(`${method} ${target} HTTP/1.1`, "Host: x", AUTHORIZATION, ...headers);

/** Returns the start line and headers of a create. */
export const createHead = (...headers: string[]): string => request("POST", "/plants", JSON_TYPE, ...headers);

/** A body that creates {@link CREATED_ID}; it has 19 bytes. */
export const PLANT = '{"id":2,"name":"x"}';

/** A complete create with a `Content-Length`. */
export const create = (body: string, ...headers: string[]): string =>
  createHead(...headers, `Content-Length: ${body.length}`) + body;

/** A request that the server must never execute: it would create plant 666. */
export const SMUGGLED = create('{"id":666,"name":"smuggled"}');

/** Encodes a text in chunks of this size, followed by the last chunk. */
export function inChunks(text: string, size = text.length): string {
  const chunks = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;
}

type Sent = Readonly<Record<string, string>>;
type Changes = Partial<Pick<Exchange, "clientEnds" | "plants" | "alternativeResponses">>;

const exchanges = (sent: Sent, outcome: Omit<Exchange, "name" | "send" | "plants">, changes: Changes): Exchange[] =>
  Object.entries(sent).map(([name, send]) => ({ name, send, plants: [EXISTING_ID], ...outcome, ...changes }));

/** Exchanges after which the connection stays open. */
export const keepsOpen = (responses: readonly number[], sent: Sent, changes: Changes = {}): Exchange[] =>
  exchanges(sent, { responses, connection: "open" }, changes);

/** Exchanges after whose responses the server closes the connection. */
export const closes = (responses: readonly number[], sent: Sent, changes: Changes = {}): Exchange[] =>
  exchanges(sent, { responses, connection: "closed" }, changes);

/** Creates that succeed. */
export const creates = (sent: Sent): Exchange[] => keepsOpen([200], sent, { plants: [EXISTING_ID, CREATED_ID] });

/** Splits a text at white space. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** One exchange per value, named after it. */
export const perValue = (values: readonly string[], send: (value: string) => string): Sent =>
  Object.fromEntries(values.map((value) => [JSON.stringify(value).slice(1, -1).slice(0, 80), send(value)]));

/** Returns the same exchanges, split in the middle of the head, within the line end that ends it, and two bytes later. */
export const inPieces = (whole: readonly Exchange[]): Exchange[] =>
  whole.map((exchange) => {
    const end = exchange.send.indexOf("\r\n\r\n") + 3;
    return { ...exchange, pauses: [end >> 1, end, end + 2].filter((at) => at > 2 && at < exchange.send.length) };
  });
