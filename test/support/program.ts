import { join } from "node:path";
import type { Subprocess } from "bun";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** The real program, running as a server in a process of its own. */
export interface Program {
  readonly url: string;
  readonly process: Subprocess<"ignore", "pipe", "pipe">;
  /** All that it has printed on standard output until now. */
  stdout(): string;
  /** The lines of its log until now. */
  log(): Record<string, unknown>[];
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number>;
}

export interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Settings of the environment that this test run itself may have. */
const cleanEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !name.startsWith("PLANTSTORE_")),
);

/** Runs a command of the program to its end. */
export async function run(
  args: readonly string[],
  options: { env?: Record<string, string>; stdin?: string | Uint8Array; cwd?: string } = {},
): Promise<Run> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { ...cleanEnvironment, ...options.env },
    stdin: options.stdin === undefined ? "ignore" : new Blob([options.stdin as BlobPart]),
    stdout: "pipe",
    stderr: "pipe",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exitCode, stdout, stderr };
}

/** Starts `serve` on free ports and waits until it is ready. */
export async function startProgram(args: readonly string[], env: Record<string, string> = {}): Promise<Program> {
  const child = Bun.spawn([process.execPath, MAIN, "serve", "--port", "0", "--admin-port", "0", ...args], {
    env: { ...cleanEnvironment, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ready = await stdout.until(/(http:\/\/\S+)$/m);
  if (ready === undefined) throw new Error(`the server did not start: ${stderr.text()}`);
  return {
    url: ready[1] as string,
    process: child,
    stdout: stdout.text,
    log: () =>
      stderr
        .text()
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return await child.exited;
    },
  };
}

/** Keeps what a stream prints; `until` resolves at the first match, or with `undefined` at the stream's end. */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = "";
  let wake = () => {};
  let hasEnded = false;
  (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      wake();
    }
    hasEnded = true;
    wake();
  })();
  return {
    text: () => text,
    async until(pattern: RegExp): Promise<RegExpExecArray | undefined> {
      for (;;) {
        const match = pattern.exec(text);
        if (match !== null) return match;
        if (hasEnded) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
