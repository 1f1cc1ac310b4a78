import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { availableParallelism, release, totalmem } from "node:os";
import { join } from "node:path";
import { newFolder } from "./processes.ts";
import { plantStoreVersion } from "./servers/plant-store.ts";

/** The machine of a run. The keys are those of `docs/performance.json`. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly fileSystem: string;
  /** Sequential writes of 4 KiB, each followed by an fdatasync. */
  readonly fsyncsPerSecond: number;
  /** Versions by program name. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Describes this machine. Takes a second to measure the disk. */
export function describeMachine(): Machine {
  const folder = newFolder();
  const machine = {
    processor: /^model name\s*: (.*)$/m.exec(readFileSync("/proc/cpuinfo", "utf8"))?.[1] ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `Linux ${release()}`,
    fileSystem: output(["findmnt", "--noheadings", "--output", "FSTYPE", "--target", folder.path]) ?? "unknown",
    fsyncsPerSecond: Math.round(measureFsyncs(join(folder.path, "fsync"))),
    versions: versions(),
  };
  folder.remove();
  return machine;
}

function measureFsyncs(path: string): number {
  const file = openSync(path, "w");
  const page = Buffer.alloc(4_096, 1);
  const startedMs = performance.now();
  let count = 0;
  while (performance.now() - startedMs < 1_000) {
    writeSync(file, page);
    fdatasyncSync(file);
    count++;
  }
  closeSync(file);
  return count / ((performance.now() - startedMs) / 1_000);
}

function versions(): Record<string, string> {
  const commit = output(["git", "-C", import.meta.dir, "rev-parse", "--short", "HEAD"]);
  const programs = {
    nginx: output(["nginx", "-v"])?.split("/")[1],
    wrk: /\/?(\d[\d.]+)/.exec(output(["wrk", "-v"]) ?? "")?.[1],
    Node: output(["node", "--version"])?.slice(1),
    Go: /go(\d\S+)/.exec(output(["go", "version"]) ?? "")?.[1],
  };
  return {
    "Plant Store": commit === undefined ? plantStoreVersion : `${plantStoreVersion} (${commit})`,
    Bun: Bun.version,
    ...Object.fromEntries(Object.entries(programs).filter(([, version]) => version !== undefined)),
  };
}

/** Returns the first line of a program's output; `undefined` when the program is missing or prints nothing. */
function output(command: readonly [string, ...string[]]): string | undefined {
  if (Bun.which(command[0]) === null) return undefined;
  const { stdout, stderr } = Bun.spawnSync([...command]);
  return `${stdout}${stderr}`.trim().split("\n")[0] || undefined;
}
