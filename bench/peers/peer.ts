import { join } from "node:path";
import type { ServerDefinition } from "../servers/server.ts";

/** Another server with a comparable API, configured as its documentation recommends. */
export interface Peer extends ServerDefinition {
  readonly role: "peer";
  /** Durability of an acknowledged create, for the report. */
  readonly durability: string;
  /** The measured release. */
  readonly version: string;
}

/** Returns the folder with the packages of a peer. */
export const peerFolder = (peer: string): string => join(import.meta.dir, peer);

/** Posts JSON to a peer's API, to set it up, and returns the JSON of the response. */
export async function postJson(url: string, body: unknown, token = ""): Promise<Record<string, unknown>> {
  const headers = { "Content-Type": "application/json", ...(token === "" ? {} : { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} returned ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}
