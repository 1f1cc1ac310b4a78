import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a create answers, and what the constants answer: so that all send the same bytes. */
export const ANSWER = JSON.stringify({ name: "Aristolochia californica", tag: "vine" });

/** A server under load, pinned to the first core. */
export interface Server {
  readonly name: string;
  readonly url: string;
  /** A token with both scopes; empty where none is asked for. */
  readonly token: string;
  stop(): Promise<void>;
}

const root = join(import.meta.dir, "..");
const SERVER_CORE = "0";

/** A disk on which every fsync takes 50 ms more: strace holds it up. */
export const SLOW_DISK = ["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null"].concat([
  "--trace=fsync,fdatasync",
  "--inject=fsync,fdatasync:delay_exit=50000",
]);

/** Plant Store as its README starts it, on an empty database of its own; `prefix` may run it under another program. */
export async function startPlantStore(port: number, prefix: readonly string[] = []): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "plantstore-bench-"));
  const database = `sqlite:${folder}/plants.db`;
  const main = join(root, "src/main.ts");
  const minted = Bun.spawnSync([process.execPath, main, "token", "create", "--owner", "bench", "--database", database]);
  const settings = ["--database", database, "--port", String(port), "--admin-port", "off"];
  const server = await start("Plant Store", port, [...prefix, process.execPath, main, "serve", ...settings]);
  return {
    ...server,
    token: minted.stdout.toString().trim(),
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A bare `Bun.serve` answering a constant. */
export const startBareBun = (port: number): Promise<Server> =>
  start("bare Bun.serve", port, [process.execPath, join(import.meta.dir, "limits.ts"), String(port)]);

async function start(name: string, port: number, command: readonly string[]): Promise<Server> {
  const child = Bun.spawn(["taskset", "-c", SERVER_CORE, ...command], { stdout: "ignore", stderr: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await answers(url);
  return {
    name,
    url,
    token: "",
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** Waits until something answers at the URL, whatever it says. */
async function answers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await fetch(url);
      return;
    } catch {
      await Bun.sleep(50);
    }
  }
  throw new Error(`nothing answers at ${url}`);
}
