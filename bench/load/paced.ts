import { join } from "node:path";
import { LOAD_CORE, spawn } from "../processes.ts";
import { type Exchange, ID, toBytes } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";
import { ascendingIds, type Ids } from "./ids.ts";
import type { Job, Paced } from "./open-loop.ts";

/** What a paced load is made of. */
export interface PacedOptions extends Pick<Job, "perSecond" | "seconds" | "connections" | "isPrecise"> {
  readonly exchange: Exchange;
  readonly ids?: Ids;
}

/** Sends requests at fixed times from a process of its own: see `open-loop.ts`. */
export async function pacedLoad(server: Server, options: PacedOptions): Promise<Paced> {
  const { exchange, ids = ascendingIds(0), ...pace } = options;
  const { hostname, port } = new URL(server.url);
  const [head = "", tail] = toBytes(exchange, server.url).split(ID);
  const { status } = exchange;
  const job: Job = {
    ...pace,
    hostname,
    port: Number(port),
    head,
    ids,
    status,
    ...(tail === undefined ? {} : { tail }),
  };
  const script = join(import.meta.dir, "open-loop.ts");
  const child = spawn([process.execPath, script, JSON.stringify(job)], { cores: LOAD_CORE });
  const output = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("the paced load failed");
  return JSON.parse(output) as Paced;
}
