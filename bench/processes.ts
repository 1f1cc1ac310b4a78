import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";

/** Which cores a process may use: a server has the first, the load and this program the second. */
export type Cores = "0" | "1" | "0,1";
export const SERVER_CORE: Cores = "0";
export const LOAD_CORE: Cores = "1";

/** How long a process may take to end before it is killed. */
const STOP_MS = 15_000;

/** What is expensive to make and good for the next run: seeded databases, built programs. */
export const CACHE = join(tmpdir(), "plantstore-bench-cache");

const children = new Set<Subprocess>();
const folders = new Set<string>();
process.on("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/**
 * Puts this program, and with it every child that is not put elsewhere, on the core of the load.
 * @throws Error when the machine or its programs do not suffice, with the remedy
 */
export function leaveServerCore(): void {
  if (availableParallelism() < 2) throw new Error("two cores are needed: one for the server, one for the load");
  for (const [program, packageName] of [
    ["taskset", "util-linux"],
    ["wrk", "wrk"],
  ] as const) {
    if (Bun.which(program) === null) throw new Error(`${program} is missing: apt-get install ${packageName}`);
  }
  pin(process.pid, LOAD_CORE);
}

/** Puts a process that runs, and its children, on some cores. */
export function pin(pid: number, cores: Cores): void {
  Bun.spawnSync(["taskset", "--all-tasks", "--cpu-list", "--pid", cores, String(pid)]);
  for (const child of childrenOf(pid)) pin(child, cores);
}

export interface SpawnOptions {
  readonly cores: Cores;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Where its standard error goes; a file to read the reason from when it fails. */
  readonly log?: string;
}

/** Starts a process on some cores; it does not outlive this program. */
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

/** Ends a process that was started here, by force when it does not end by itself. */
export async function end(child: Subprocess): Promise<void> {
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  child.kill("SIGTERM");
  await child.exited;
  clearTimeout(timer);
}

/** A new folder for one server's files, on the disk that is measured. */
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

/** Seconds of CPU time that a process and its children have taken. */
export function cpuSeconds(pid: number): number {
  // proc_pid_stat(5): fields 14 and 15, in hundredths of a second, counted from behind the name in parentheses.
  const own = (readProc(pid, "stat").split(") ")[1] ?? "").split(" ").slice(11, 13);
  const ticks = own.reduce((sum, field) => sum + Number(field), 0);
  return childrenOf(pid).reduce((sum, child) => sum + cpuSeconds(child), ticks / 100);
}

/** MiB of memory that a process holds. */
export const memoryMiB = (pid: number): number => statusMiB(pid, "VmRSS");

/** MiB of memory that a process holds at most until some work is done. */
export async function peakMemoryMiB(pid: number, work: () => Promise<unknown>): Promise<number> {
  // proc_pid_clear_refs(5): 5 sets the highest value back to the present one.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  await work();
  return statusMiB(pid, "VmHWM");
}

const statusMiB = (pid: number, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(readProc(pid, "status"))?.[1]) / 1_024;

function childrenOf(pid: number): number[] {
  return readProc(pid, `task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** A file of proc(5); empty when the process is gone. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** A port that nobody listens on at the moment. */
export function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  listener.stop(true);
  return listener.port;
}
