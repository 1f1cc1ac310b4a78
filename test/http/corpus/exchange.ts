/** One malformed or unusual exchange on one connection, and all that may come of it. */
export interface Exchange {
  /** What is unusual about it. */
  readonly what: string;
  /** What the client sends, a character a byte (ISO 8859-1). {@link TOKEN} stands for the token of an owner of its own. */
  readonly send: string;
  /** Where the client pauses until the server has read what came before. */
  readonly pauses?: readonly number[];
  /** What the client does when all is sent, besides waiting: it closes its half of the connection, or resets it. */
  readonly clientEnds?: "half" | "reset";
  /** Every answer, in order: the number of an `Error`, or the bare status of anything else. */
  readonly answers: readonly number[];
  /** The answers when the server is faster than the client is gone. */
  readonly orAnswers?: readonly number[];
  /** Whether a request that follows gets its own answer, or the server hangs up, at the idle timeout at the latest. */
  readonly leaves: "open" | "closed";
  /** The ids of the owner's plants afterwards. Before, there is {@link KEPT}. */
  readonly plants: readonly number[];
}

/** The id of the plant that every owner has from the start. */
export const KEPT = 1;
/** The id of the plant that exchanges create. */
export const MADE = 2;
/** As long as a token, so that it may stand in a body whose length is told. */
export const TOKEN = "<the token>".padEnd(40, ".");

const AUTHORIZATION = `Authorization: Bearer ${TOKEN}`;
const JSON_TYPE = "Content-Type: application/json";

/** The start line and the headers of a message, as they are given. */
export const head = (...lines: string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

/** A request without a body, with the access that it needs. */
export const ask = (method: string, target: string, ...headers: string[]): string =>
  head(`${method} ${target} HTTP/1.1`, "Host: x", AUTHORIZATION, ...headers);

/** The head of a create. */
export const createHead = (...headers: string[]): string => ask("POST", "/plants", JSON_TYPE, ...headers);

/** What makes {@link MADE}, in 19 bytes. */
export const PLANT = '{"id":2,"name":"x"}';

/** A whole create that tells the length of its body. */
export const create = (body: string, ...headers: string[]): string =>
  createHead(...headers, `Content-Length: ${body.length}`) + body;

/** A request that must never be carried out, wherever it stands: it would make a plant. */
export const SMUGGLED = create('{"id":666,"name":"smuggled"}');

/** Text in chunks of this size, with the last one that ends the body. */
export function inChunks(text: string, size = text.length): string {
  const chunks = text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;
}

type Sent = Readonly<Record<string, string>>;
type Changes = Partial<Pick<Exchange, "clientEnds" | "plants" | "orAnswers">>;

const exchanges = (sent: Sent, outcome: Omit<Exchange, "what" | "send" | "plants">, changes: Changes): Exchange[] =>
  Object.entries(sent).map(([what, send]) => ({ what, send, plants: [KEPT], ...outcome, ...changes }));

/** Exchanges after which the connection goes on. */
export const answered = (answers: readonly number[], sent: Sent, changes: Changes = {}): Exchange[] =>
  exchanges(sent, { answers, leaves: "open" }, changes);

/** Exchanges that end the connection, whatever is answered before. */
export const cut = (answers: readonly number[], sent: Sent, changes: Changes = {}): Exchange[] =>
  exchanges(sent, { answers, leaves: "closed" }, changes);

/** Creates that do what they say. */
export const created = (sent: Sent): Exchange[] => answered([200], sent, { plants: [KEPT, MADE] });

/** The words of a text. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** One exchange for each value, named by it. */
export const each = (values: readonly string[], send: (value: string) => string): Sent =>
  Object.fromEntries(values.map((value) => [JSON.stringify(value).slice(1, -1).slice(0, 80), send(value)]));

/** The same exchanges in pieces: in the middle of the head, in the line end that closes it, and soon after. */
export const inPieces = (whole: readonly Exchange[]): Exchange[] =>
  whole.map((exchange) => {
    const end = exchange.send.indexOf("\r\n\r\n") + 3;
    return { ...exchange, pauses: [end >> 1, end, end + 2].filter((at) => at > 2 && at < exchange.send.length) };
  });
