import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Kind } from "../servers/server.ts";

/** Another way to the same end, as its documentation would have a user run it. */
export interface Peer extends Kind {
  readonly role: "peer";
  /** What is durable when a create was answered, and how it is made so. */
  readonly durability: string;
  /** Of the release that is measured. */
  readonly version: string;
}

/** The folder with the packages of a peer, apart from the product's. */
export const peerFolder = (peer: string): string => join(import.meta.dir, peer);

/** The version of a package that a peer's `package.json` asks for. */
export function packageVersion(peer: string, name: string): string {
  const { dependencies } = JSON.parse(readFileSync(join(peerFolder(peer), "package.json"), "utf8"));
  return dependencies[name];
}

/**
 * Installs the packages of a peer unless they are there.
 * @throws Error with what npm said
 */
export function installPackages(peer: string): void {
  const folder = peerFolder(peer);
  const installed = join(folder, "node_modules/.package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs > statSync(join(folder, "package-lock.json")).mtimeMs)
    return;
  console.error(`  installs ${peer}`);
  run(["npm", "ci", "--no-audit", "--no-fund", "--prefix", folder]);
}

/**
 * Runs a command that makes a peer ready, on both cores, to its end.
 * @throws Error with the last that it said
 */
export function run(command: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): string {
  const { env, ...others } = options;
  const { exitCode, stdout, stderr } = Bun.spawnSync(["taskset", "--cpu-list", "0,1", ...command], {
    ...others,
    env: { ...process.env, ...env },
  });
  if (exitCode === 0) return stdout.toString();
  const said = stderr.toString().trim().split("\n");
  throw new Error(`${command.slice(0, 2).join(" ")} failed: ${said.slice(-3).join(" ")}`);
}

/** Sends JSON and returns the JSON of the answer: for what has to be set up through a peer's own interface. */
export async function postJson(url: string, body: unknown, token = ""): Promise<Record<string, unknown>> {
  const headers = { "Content-Type": "application/json", ...(token === "" ? {} : { Authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} was answered ${response.status} ${await response.text()}`);
  return (await response.json()) as Record<string, unknown>;
}
