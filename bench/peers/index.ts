import type { Kind } from "../servers/server.ts";

export const peers: readonly Kind[] = [];
