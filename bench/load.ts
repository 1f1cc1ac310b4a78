import { join } from "node:path";
import type { Server } from "./servers.ts";

const LOAD_CORE = "1";

/** What one run of wrk measured. */
export interface Load {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers that were no 2xx or 3xx, and connections that failed. */
  readonly errors: number;
}

export interface LoadOptions {
  /** A Lua script in `bench/wrk/` that makes the requests. */
  readonly script: string;
  readonly connections: number;
  readonly seconds: number;
  /** Differs from run to run, so that no id is created twice. */
  readonly run: number;
}

/** Sends requests for a while with wrk, pinned to the second core. */
export async function load(server: Server, { script, connections, seconds, run }: LoadOptions): Promise<Load> {
  const path = join(import.meta.dir, "wrk", script);
  const child = Bun.spawn(
    ["taskset", "-c", LOAD_CORE, "wrk", "-t1", `-c${connections}`, `-d${seconds}s`, "-s", path, server.url],
    { env: { ...process.env, TOKEN: server.token, RUN: String(run) }, stdout: "pipe", stderr: "inherit" },
  );
  const output = await new Response(child.stdout).text();
  const line = /^RESULT (.*)$/m.exec(output)?.[1];
  if ((await child.exited) !== 0 || line === undefined) throw new Error(`wrk failed: ${output}`);
  return JSON.parse(line) as Load;
}

/** @throws Error when wrk is missing */
export function requireWrk(): void {
  if (Bun.which("wrk") === null) throw new Error("wrk makes the load and is missing: apt-get install wrk");
}
