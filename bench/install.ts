import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/** The version of a package that the `package.json` in a folder asks for. */
export function packageVersion(folder: string, name: string): string {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies[name];
}

/**
 * Installs the packages of a folder of the benchmark, which are no part of the product's, unless they are there.
 * @throws Error with what npm said
 */
export function installPackages(folder: string): void {
  const installed = join(folder, "node_modules/.package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs > statSync(join(folder, "package-lock.json")).mtimeMs)
    return;
  console.error(`  installs the packages for ${basename(folder)}`);
  run(["npm", "ci", "--no-audit", "--no-fund", "--prefix", folder]);
}

/**
 * Runs a command, on both cores, to its end and returns what it printed.
 * @throws Error with the last that it said
 */
export function run(command: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): string {
  const { env, ...others } = options;
  const { exitCode, stdout, stderr } = Bun.spawnSync(["taskset", "--cpu-list", "0,1", ...command], {
    ...others,
    env: { ...process.env, ...env },
  });
  if (exitCode === 0) return stdout.toString().trim();
  const said = stderr.toString().trim().split("\n");
  throw new Error(`${command.slice(0, 2).join(" ")} failed: ${said.slice(-3).join(" ")}`);
}
