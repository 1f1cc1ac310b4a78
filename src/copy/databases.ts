import type { Owner } from "../domain/plant.ts";
import { type Token, tokenId } from "../domain/token.ts";
import type { Storage } from "../storage/storage.ts";

/** From where to where, and what may stop it: its reason is what the stopped work rejects with. */
export interface Databases {
  readonly source: Storage;
  readonly target: Storage;
  readonly signal: AbortSignal;
}

/** Hears of plants that were dealt with, some at a time. */
export type OnPlants = (count: number) => void;

/** Plants that are read at a time, on either side. */
export const CHUNK = 1_000;

/** To be called before each chunk: gives progress and signals a turn, which engines that answer at once would not. */
export async function takeTurn(signal: AbortSignal): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal.throwIfAborted();
}

/** The order in which engines have owners: by code point. JavaScript's own goes by UTF-16, which differs past U+FFFF. */
export const compareOwners = (a: Owner, b: Owner): number =>
  a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));

/** An owner in a message. */
export const nameOwner = (owner: Owner): string => `owner ${JSON.stringify(owner)}`;

/** A token in a message. */
export const nameToken = (token: Token): string => `token ${tokenId(token)} of ${nameOwner(token.owner)}`;

/** A number of things in a message. */
export const countOf = (count: number, thing: "plant" | "owner" | "token"): string =>
  `${count} ${thing}${count === 1 ? "" : "s"}`;
