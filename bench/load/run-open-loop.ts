import { join } from "node:path";
import { LOAD_CORE, spawn } from "../processes.ts";
import { type Exchange, ID, serialize } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";
import { ascendingIds, type Ids } from "./ids.ts";
import type { Job, OpenLoopResult } from "./open-loop.ts";

export interface OpenLoopOptions extends Pick<Job, "perSecond" | "seconds" | "connections" | "isPrecise"> {
  readonly exchange: Exchange;
  readonly ids?: Ids;
}

/** Runs the open-loop load generator in a separate process: see `open-loop.ts`. */
export async function runOpenLoop(server: Server, options: OpenLoopOptions): Promise<OpenLoopResult> {
  const { exchange, ids = ascendingIds(0), ...rate } = options;
  const { hostname, port } = new URL(server.url);
  const [head = "", tail] = serialize(exchange, server.url).split(ID);
  const { status } = exchange;
  const job: Job = {
    ...rate,
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
  if ((await child.exited) !== 0) throw new Error("the open-loop load generator failed");
  return JSON.parse(output) as OpenLoopResult;
}
