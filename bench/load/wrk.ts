import { join } from "node:path";
import { type Cores, cpuSeconds, LOAD_CORE, spawn } from "../processes.ts";
import { type Exchange, toBytes } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";
import { ascendingIds, type Ids } from "./ids.ts";

/** What a load is made of. */
export interface LoadOptions {
  /** Sent in turn. All are to be answered alike: with a status below 400, or from 400 on. */
  readonly exchanges: readonly Exchange[];
  readonly connections: number;
  readonly seconds: number;
  /** Needed where a request has an id. */
  readonly ids?: Ids;
  readonly cores?: Cores;
}

/** What one load measured. */
export interface Load {
  /** Right answers a second. */
  readonly perSecond: number;
  /** Answers with another status, and connections that failed. */
  readonly errors: number;
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  /** Of one core, how much the server took. */
  readonly busy?: number;
}

interface Result {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly refused: number;
  readonly failed: number;
}

/** Sends requests for a while with wrk, each connection as fast as it is answered. */
export async function load(server: Server, options: LoadOptions): Promise<Load> {
  const { exchanges, connections, seconds, ids = ascendingIds(0), cores = LOAD_CORE } = options;
  const threads = cores === "0,1" ? 2 : 1;
  const flags = [`-t${threads}`, `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"];
  const requests = exchanges.map((each, index) => [`REQUEST_${index + 1}`, toBytes(each, server.url)]);
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
  const result = JSON.parse(line) as Result;
  const isRefusal = exchanges.some(({ status }) => status >= 400);
  // wrk does not count requests that are still waiting at the end.
  const stuck = result.requests === 0 ? connections : 0;
  const wrong = isRefusal ? result.requests - result.refused : result.refused;
  return {
    perSecond: (result.requests - wrong) / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    errors: wrong + stuck + result.failed,
    busy: (cpuSeconds(server.pid) - before) / result.seconds,
  };
}
