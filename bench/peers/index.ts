import { directus } from "./directus.ts";
import { fastify } from "./fastify.ts";
import { jsonServer } from "./json-server.ts";
import type { Peer } from "./peer.ts";
import { pocketBase } from "./pocketbase.ts";
import { postgrest } from "./postgrest.ts";

/** All peers, in the order of the report. */
export const peers: readonly Peer[] = [pocketBase, fastify, directus, postgrest, jsonServer];
