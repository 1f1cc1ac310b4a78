import { readFileSync } from "node:fs";
import type { Subprocess } from "bun";
import { type Cores, end, type newFolder, SERVER_CORE, spawn } from "../processes.ts";
import type { Role } from "../scenario.ts";
import { type Exchange, probe } from "./exchange.ts";

/** How long a server may take until it answers. */
const START_MS = 60_000;

/** What a load may ask: not every server knows every one. */
export type Exchanges = Partial<
  Record<"create" | "list" | "listAll" | "listAfter" | "delete" | "unknownToken" | "malformedToken", Exchange>
>;

/** A server that runs. */
export interface Server {
  readonly name: string;
  readonly role: Role;
  readonly url: string;
  readonly pid: number;
  readonly exchanges: Exchanges;
  /** Milliseconds from its start until it answered rightly. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** A kind of server, ready to be started. */
export interface Kind {
  readonly name: string;
  readonly role: Role;
  /** Starts one on files of its own, and waits until it answers rightly. */
  start(setup: Setup): Promise<Server>;
}

export interface Setup {
  /** Plants that the store begins with. */
  readonly plants: number;
  /** The first core, unless said otherwise. */
  readonly cores?: Cores;
  /** Programs that the server runs under, `strace` for one. */
  readonly under?: readonly string[];
}

interface Launch extends Omit<Server, "pid" | "startMs" | "stop"> {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly cores?: Cores | undefined;
  /** The folder of its files, which is removed when it stops. */
  readonly folder: ReturnType<typeof newFolder>;
}

/** Starts a process and waits until it answers `list` rightly, or whatever else it knows. */
export async function launch({ command, env = {}, cwd, cores, folder, ...server }: Launch): Promise<Server> {
  const log = `${folder.path}/stderr.log`;
  const startedMs = performance.now();
  const child = spawn(command, { cores: cores ?? SERVER_CORE, env, log, ...(cwd === undefined ? {} : { cwd }) });
  drain(child);
  const stop = async () => {
    await end(child);
    folder.remove();
  };
  const { list, ...others } = server.exchanges;
  try {
    await ready(child, server.url, list ?? (Object.values(others)[0] as Exchange));
  } catch (error) {
    const said = readFileSync(log, "utf8").trim().slice(-500);
    await stop();
    throw new Error(`${server.name} did not start: ${(error as Error).message}${said === "" ? "" : `: ${said}`}`);
  }
  return { ...server, pid: child.pid, startMs: performance.now() - startedMs, stop };
}

async function ready(child: Subprocess, url: string, exchange: Exchange): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    try {
      await probe(url, exchange);
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) throw error;
    }
    await Bun.sleep(2);
  }
}

/** Reads what a process prints, so that it never waits for a reader. */
async function drain(child: Subprocess<"ignore", "pipe">): Promise<void> {
  for await (const _ of child.stdout);
}
