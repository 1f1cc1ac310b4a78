import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

/** Cores of a process. Servers run on the first core, the load generator and this program on the second. */
export type Cores = "0" | "1" | "0,1";
export const SERVER_CORE: Cores = "0";
export const LOAD_CORE: Cores = "1";

/** Time between SIGTERM and SIGKILL. */
const STOP_TIMEOUT_MS = 15_000;

/** Cache across runs for seeded databases and built programs. */
export const CACHE_FOLDER = join(tmpdir(), "plantstore-bench-cache");

const children = new Set<Subprocess>();
const folders = new Set<string>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/**
 * Pins this program to the load generator's core, which its children inherit.
 * @throws Error when a core or a required program is missing, with the remedy
 */
export function reserveServerCore(): void {
  if (availableParallelism() < 2)
    throw new Error("two cores are required: one for the server, one for the load generator");
  for (const [program, packageName] of [
    ["taskset", "util-linux"],
    ["wrk", "wrk"],
  ] as const) {
    if (Bun.which(program) === null) throw new Error(`${program} is missing: apt-get install ${packageName}`);
  }
  pin(process.pid, LOAD_CORE);
}

/** Pins a running process and its children to cores. */
export function pin(pid: number, cores: Cores): void {
  Bun.spawnSync(["taskset", "--all-tasks", "--cpu-list", "--pid", cores, String(pid)]);
  for (const child of childrenOf(pid)) pin(child, cores);
}

export interface SpawnOptions {
  readonly cores: Cores;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** File for its standard error, which is inherited by default. */
  readonly log?: string;
}

/** Starts a process on the given cores. It is killed when this program exits. */
export function spawn(
  command: readonly string[],
  { cores, env, cwd, log }: SpawnOptions,
): Subprocess<"ignore", "pipe"> {
  const child = Bun.spawn(["taskset", "--cpu-list", cores, ...command], {
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: log === undefined ? "inherit" : Bun.file(log),
    ...(cwd === undefined ? {} : { cwd }),
  });
  children.add(child);
  child.exited.finally(() => children.delete(child));
  return child;
}

/** Stops a child with SIGTERM, and with SIGKILL after a timeout. */
export async function stopProcess(child: Subprocess): Promise<void> {
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  child.kill("SIGTERM");
  await child.exited;
  clearTimeout(timer);
}

/** Creates a temporary folder on the disk under test. It is removed when this program exits. */
export function newFolder(): { readonly path: string; remove(): void } {
  mkdirSync(tmpdir(), { recursive: true });
  const path = mkdtempSync(join(tmpdir(), "plantstore-bench-"));
  folders.add(path);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true });
      folders.delete(path);
    },
  };
}

/** Returns the CPU seconds used by a process and its children. */
export function cpuSeconds(pid: number): number {
  // proc_pid_stat(5): fields 14 and 15, in hundredths of a second. The name (field 2) may contain spaces: split after it.
  const own = (readProc(pid, "stat").split(") ")[1] ?? "").split(" ").slice(11, 13);
  const ticks = own.reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), ticks / 100);
}

/** Returns the resident memory of a process in MiB. */
export const memoryMiB = (pid: number): number => statusMiB(pid, "VmRSS");

/** Runs `work` and returns the peak resident memory of a process in MiB. */
export async function peakMemoryMiB(pid: number, work: () => Promise<unknown>): Promise<number> {
  // proc_pid_clear_refs(5): 5 resets the peak to the current value.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  await work();
  return statusMiB(pid, "VmHWM");
}

const statusMiB = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readProc(pid, "status"))?.[1]) / 1_024;

function childrenOf(pid: number): number[] {
  return readProc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** Reads a file of proc(5); empty when the process has exited. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Returns a port that is currently free. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}
