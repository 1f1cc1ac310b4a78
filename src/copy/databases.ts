import type { Owner } from "../domain/plant.ts";
import { type Token, tokenId } from "../domain/token.ts";
import type { Storage } from "../storage/storage.ts";

/** Source and target of a copy. When `signal` aborts, the operation rejects with its reason. */
export interface Databases {
  readonly source: Storage;
  readonly target: Storage;
  readonly signal: AbortSignal;
}

/** Progress callback: receives the number of plants processed since the last call. */
export type OnProgress = (count: number) => void;

/** Plants per read from a database. */
export const CHUNK_LENGTH = 1_000;

/**
 * Yields to the event loop, so that progress is shown and stop signals are handled even when both engines are
 * synchronous. Call it before each chunk.
 * @throws the reason of `signal`, if it is aborted
 */
export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

/** Compares owners by code point, as the engines do. JavaScript's `<` compares UTF-16 code units, which differs above U+FFFF. */
export const compareOwners = (a: Owner, b: Owner): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Formats an owner for a message. */
export const formatOwner = (owner: Owner): string => `owner ${JSON.stringify(owner)}`;

/** Formats a token for a message. */
export const formatToken = (token: Token): string => `token ${tokenId(token)} of ${formatOwner(token.owner)}`;

/** Formats a count for a message: `1 plant`, `2 plants`. */
export const formatCount = (count: number, noun: "plant" | "owner" | "token"): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;
