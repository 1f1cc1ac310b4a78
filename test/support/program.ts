import { join } from "node:path";
import type { Subprocess } from "bun";
import { onCleanUp } from "./cleanup.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** A running `serve` process. */
export interface ServerProcess {
  readonly url: string;
  /** Base URL of the admin listener; `undefined` when it is off. */
  readonly adminUrl: string | undefined;
  readonly process: Subprocess<"ignore", "pipe", "pipe">;
  /** Its standard output so far. */
  stdout(): string;
  /** Resolves when standard output matches; rejects when it ends without a match. */
  printed(pattern: RegExp): Promise<void>;
  /** Returns the lines of its log so far. */
  log(): Record<string, unknown>[];
  /** Process ids of the workers that serve, by worker number. */
  workers(): Map<number, number>;
  /** Resolves when the log contains this text; rejects when it ends without it. */
  logged(text: string): Promise<void>;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
}

export interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly stdin?: string | Uint8Array;
  readonly cwd?: string;
}

/** Kills a child process when the tests end, unless it exits before. */
export function track<Child extends Subprocess>(child: Child): Child {
  const cancel = onCleanUp(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  child.exited.finally(cancel);
  return child;
}

/** The environment of this process, without settings of Plant Store. */
export const cleanEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:PLANTSTORE|OTEL)_/.test(name)),
);

/** Returns the command line of the program with these arguments. */
export const commandLine = (args: readonly string[]): string[] => [process.execPath, MAIN, ...args];

/** Runs a command of the program and waits for its exit. */
export async function run(args: readonly string[], { env, stdin, cwd }: RunOptions = {}): Promise<Run> {
  const child = track(
    Bun.spawn(commandLine(args), {
      env: { ...cleanEnvironment, ...env },
      stdin: stdin === undefined ? "ignore" : new Blob([stdin as BlobPart]),
      stdout: "pipe",
      stderr: "pipe",
      ...(cwd === undefined ? {} : { cwd }),
    }),
  );
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** Creates a token with the command line. */
export async function createToken(database: string, owner: string, args: readonly string[] = []): Promise<string> {
  const made = await run(["token", "create", "--database", database, "--owner", owner, ...args]);
  if (made.exitCode !== 0) throw new Error(made.stderr);
  return made.stdout.trim();
}

/** Starts `serve` on free ports and waits until it is ready. `command` builds the command line. */
export async function startServerProcess(
  args: readonly string[],
  env: Record<string, string> = {},
  command: (args: readonly string[]) => string[] = commandLine,
): Promise<ServerProcess> {
  const child = track(
    Bun.spawn(command(["serve", "--port", "0", "--admin-port", "0", ...args]), {
      env: { ...cleanEnvironment, ...env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    }),
  );
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ready = await stdout.until(/^.* (https?:\/\/\S+)\n/);
  if (ready === undefined) throw new Error(`the server did not start: ${stderr.text()}`);
  await stderr.until(/^(?!.*"worker":).*"msg":"serving"/m);
  const log = () =>
    stderr
      .text()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    url: ready[1] as string,
    adminUrl: log().find(({ msg, worker }) => msg === "serving" && worker === undefined)?.["adminUrl"] as
      | string
      | undefined,
    process: child,
    stdout: stdout.text,
    async printed(pattern) {
      if ((await stdout.until(pattern)) === undefined) throw new Error(`no match in the output: ${stdout.text()}`);
    },
    log,
    workers: () =>
      new Map(
        log().flatMap(({ msg, worker, pid }) =>
          msg === "serving" && worker ? [[worker as number, pid as number]] : [],
        ),
      ),
    async logged(text) {
      const line = await stderr.until(new RegExp(`^.*${RegExp.escape(text)}.*\n`, "m"));
      if (line === undefined) throw new Error(`"${text}" is not in the log: ${stderr.text()}`);
    },
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return await child.exited;
    },
  };
}

/** Fetches the body of `/metrics`. */
export const fetchMetrics = async ({ adminUrl }: Pick<ServerProcess, "adminUrl">): Promise<string> =>
  (await fetch(`${adminUrl}/metrics`)).text();

/** Returns the resident memory of a server, from its metrics. */
export async function residentBytes(server: ServerProcess): Promise<number> {
  return Number(/^process_resident_memory_bytes (\d+)$/m.exec(await fetchMetrics(server))?.[1]);
}

/** Collects a stream. `until` resolves with the first match, or with `undefined` when the stream ends. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = "";
  let hasEnded = false;
  let { promise: changed, resolve: wake } = Promise.withResolvers<void>();
  const notify = () => {
    wake();
    ({ promise: changed, resolve: wake } = Promise.withResolvers<void>());
  };
  (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      notify();
    }
    hasEnded = true;
    notify();
  })();
  return {
    text: () => text,
    async until(pattern: RegExp): Promise<RegExpExecArray | undefined> {
      for (;;) {
        const match = pattern.exec(text);
        if (match !== null) return match;
        if (hasEnded) return undefined;
        await changed;
      }
    },
  };
}
