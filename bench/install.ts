import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/** Returns the version of a dependency in a folder's `package.json`. */
export function packageVersion(folder: string, name: string): string {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies[name];
}

/**
 * Installs the packages of a benchmark folder unless they are installed already.
 * @throws Error with npm's output
 */
export function installPackages(folder: string): void {
  const installed = join(folder, "node_modules/.package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs > statSync(join(folder, "package-lock.json")).mtimeMs)
    return;
  console.error(`  installing the packages for ${basename(folder)}`);
  runCommand(["npm", "ci", "--no-audit", "--no-fund", "--prefix", folder]);
}

/**
 * Runs a command on both cores and returns its standard output.
 * @throws Error with the end of its standard error when it fails
 */
export function runCommand(
  command: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): string {
  const { env, ...others } = options;
  const { exitCode, stdout, stderr } = Bun.spawnSync(["taskset", "--cpu-list", "0,1", ...command], {
    ...others,
    env: { ...process.env, ...env },
  });
  if (exitCode === 0) return stdout.toString().trim();
  const lines = stderr.toString().trim().split("\n");
  throw new Error(`${command.slice(0, 2).join(" ")} failed: ${lines.slice(-3).join(" ")}`);
}
