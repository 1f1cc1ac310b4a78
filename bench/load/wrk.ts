import { join } from "node:path";
import { type Cores, cpuSeconds, LOAD_CORE, spawn } from "../processes.ts";
import { type Exchange, serialize } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";
import { ascendingIds, type Ids } from "./ids.ts";

/** Describes a load. */
export interface WrkOptions {
  /** Sent in rotation. Either all expect a status below 400, or all expect 400 or above. */
  readonly exchanges: readonly Exchange[];
  readonly connections: number;
  readonly seconds: number;
  /** Required for requests with an id. */
  readonly ids?: Ids;
  readonly cores?: Cores;
}

/** Result of a load. */
export interface LoadResult {
  /** Expected responses per second. */
  readonly perSecond: number;
  /** Unexpected statuses and connection errors. */
  readonly errors: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** CPU use of the server in cores. */
  readonly busy?: number;
}

/** The summary that `wrk.lua` prints. */
interface Summary {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errorStatuses: number;
  readonly socketErrors: number;
}

/** Runs wrk, a closed loop: each connection sends its next request when the last one has its response. */
export async function runWrk(server: Server, options: WrkOptions): Promise<LoadResult> {
  const { exchanges, connections, seconds, ids = ascendingIds(0), cores = LOAD_CORE } = options;
  const threads = cores === "0,1" ? 2 : 1;
  const flags = [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"];
  const requests = exchanges.map((each, index) => [`REQUEST_${index + 1}`, serialize(each, server.url)]);
  const { from, offset, step, span } = ids;
  const env = {
    THREADS: String(threads),
    FROM: String(from),
    OFFSET: String(offset),
    STEP: String(step),
    SPAN: String(span),
  };
  const before = cpuSeconds(server.pid);
  const child = spawn(["wrk", ...flags, "-s", join(import.meta.dir, "wrk.lua"), server.url], {
    cores,
    env: { ...env, ...Object.fromEntries(requests) },
  });
  const output = await new Response(child.stdout).text();
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if ((await child.exited) !== 0 || line === undefined) throw new Error(`wrk failed: ${output}`);
  const summary = JSON.parse(line) as Summary;
  const expectsError = exchanges.some(({ status }) => status >= 400);
  // wrk does not count requests without a response at the end.
  const stuck = summary.requests === 0 ? connections : 0;
  const unexpected = expectsError ? summary.requests - summary.errorStatuses : summary.errorStatuses;
  return {
    perSecond: (summary.requests - unexpected) / summary.seconds,
    p50Ms: summary.p50Ms,
    p99Ms: summary.p99Ms,
    errors: unexpected + stuck + summary.socketErrors,
    busy: (cpuSeconds(server.pid) - before) / summary.seconds,
  };
}
