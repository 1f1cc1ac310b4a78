import { readFileSync } from "node:fs";
import type { Subprocess } from "bun";
import { type Cores, type newFolder, SERVER_CORE, spawn, stopProcess } from "../processes.ts";
import type { Role } from "../scenario.ts";
import { type Exchange, probe } from "./exchange.ts";

/** Timeout for a server's first expected response. */
const START_TIMEOUT_MS = 60_000;

/** The requests that a server supports. */
export type Exchanges = Partial<
  Record<"create" | "list" | "listAll" | "listAfter" | "delete" | "unknownToken" | "malformedToken", Exchange>
>;

/** A running server. */
export interface Server {
  readonly name: string;
  readonly role: Role;
  readonly url: string;
  readonly pid: number;
  readonly exchanges: Exchanges;
  /** Time from the start of the process to the first expected response. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** A server that can be started. */
export interface ServerDefinition {
  readonly name: string;
  readonly role: Role;
  /** Starts an instance with its own files and waits until it is ready. */
  start(options: StartOptions): Promise<Server>;
}

export interface StartOptions {
  /** Number of seeded plants. */
  readonly plants: number;
  /** The default is the first core. */
  readonly cores?: Cores;
  /** Prefix of the server's command, such as `strace`. */
  readonly commandPrefix?: readonly string[];
}

interface LaunchOptions extends Omit<Server, "pid" | "startMs" | "stop"> {
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly cores?: Cores | undefined;
  /** Folder for its files, removed when it stops. */
  readonly folder: ReturnType<typeof newFolder>;
}

/** Starts a server process and waits for the expected response to `list`, or to another supported request. */
export async function launch({ command, env = {}, cwd, cores, folder, ...server }: LaunchOptions): Promise<Server> {
  const log = `${folder.path}/stderr.log`;
  const startedMs = performance.now();
  const child = spawn(command, { cores: cores ?? SERVER_CORE, env, log, ...(cwd === undefined ? {} : { cwd }) });
  discardOutput(child);
  const stop = async () => {
    await stopProcess(child);
    folder.remove();
  };
  const { list, ...others } = server.exchanges;
  try {
    await waitUntilReady(child, server.url, list ?? (Object.values(others)[0] as Exchange));
  } catch (error) {
    const output = readFileSync(log, "utf8").trim().slice(-500);
    await stop();
    throw new Error(`${server.name} did not start: ${(error as Error).message}${output === "" ? "" : `: ${output}`}`);
  }
  return { ...server, pid: child.pid, startMs: performance.now() - startedMs, stop };
}

async function waitUntilReady(child: Subprocess, url: string, exchange: Exchange): Promise<void> {
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await probe(url, exchange);
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadlineMs) throw error;
    }
    await Bun.sleep(2);
  }
}

/** Reads and discards standard output, so that a full pipe never blocks the process. */
async function discardOutput(child: Subprocess<"ignore", "pipe">): Promise<void> {
  for await (const _ of child.stdout);
}
