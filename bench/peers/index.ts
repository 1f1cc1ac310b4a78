import { directus } from "./directus.ts";
import { fastify } from "./fastify.ts";
import { jsonServer } from "./json-server.ts";
import type { Peer } from "./peer.ts";
import { pocketBase } from "./pocketbase.ts";
import { postgrest } from "./postgrest.ts";

/** All that the product is compared with. */
export const peers: readonly Peer[] = [pocketBase, fastify, directus, postgrest, jsonServer];
