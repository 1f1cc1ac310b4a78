import { join } from "node:path";
import type { Kind } from "../servers/server.ts";

/** Another way to the same end, as its documentation would have a user run it. */
export interface Peer extends Kind {
  readonly role: "peer";
  /** What is durable when a create was answered, and how it is made so. */
  readonly durability: string;
  /** Of the release that is measured. */
  readonly version: string;
}

/** The folder with the packages of a peer, apart from the product's. */
export const peerFolder = (peer: string): string => join(import.meta.dir, peer);

/** Sends JSON and returns the JSON of the answer: for what has to be set up through a peer's own interface. */
export async function postJson(url: string, body: unknown, token = ""): Promise<Record<string, unknown>> {
  const headers = { "Content-Type": "application/json", ...(token === "" ? {} : { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} was answered ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}
