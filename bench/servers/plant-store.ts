import { basename, join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { mintSecret } from "../../src/domain/token.ts";
import { freePort, newFolder } from "../processes.ts";
import { copySeeded, PLANTS } from "../seed.ts";
import { ID } from "./exchange.ts";
import { type Exchanges, launch, type ServerDefinition, type StartOptions } from "./server.ts";

export const PLANT_STORE = "Plant Store";
const ROOT = join(import.meta.dir, "../..");

/** A well-formed token, which the server looks up in the database. */
const UNKNOWN_TOKEN = mintSecret();
/** A token with a wrong checksum. */
const MALFORMED_TOKEN = UNKNOWN_TOKEN.slice(0, -1) + (UNKNOWN_TOKEN.endsWith("0") ? "1" : "0");

/** Plant Store, started as in its README. */
export const plantStore = definitionOf(ROOT, { name: PLANT_STORE, role: "product" });

/** Defines the Plant Store of another checkout, whose dependencies must be installed. */
export const baselineIn = (checkout: string): ServerDefinition =>
  definitionOf(checkout, { name: `${PLANT_STORE} in ${basename(checkout)}`, role: "baseline" });

function definitionOf(root: string, { name, role }: Pick<ServerDefinition, "name" | "role">): ServerDefinition {
  const start = async ({ plants, cores, commandPrefix = [] }: StartOptions) => {
    const folder = newFolder();
    const path = join(folder.path, "plants.db");
    const token = await copySeeded(plants, path);
    const port = freePort();
    return launch({
      name,
      role,
      url: `http://127.0.0.1:${port}`,
      command: [...commandPrefix, ...serveCommand(root, path, port)],
      exchanges: exchanges(token, plants),
      cores,
      folder,
    });
  };
  return { name, role, start };
}

/** Returns the command line of a server on a database. */
const serveCommand = (root: string, path: string, port: number): string[] => [
  process.execPath,
  join(root, "src/main.ts"),
  "serve",
  "--database",
  `sqlite:${path}`,
  "--port",
  String(port),
  "--admin-port",
  "off",
  // With the limit, the server would respond with 429 instead of checking the token.
  "--failure-limit",
  "off",
];

/** Plant Store's version. */
export const plantStoreVersion = packageJson.version;

/** Requests to Plant Store and their expected responses; `plants` is the number of seeded plants. */
export function exchanges(token: string, plants: number): Exchanges {
  const headers = { Authorization: `Bearer ${token}` };
  const [{ name, tag }] = PLANTS;
  const unauthorized = (secret: string) => ({
    method: "GET" as const,
    path: "/plants?limit=20",
    headers: { Authorization: `Bearer ${secret}` },
    status: 401,
    isExpected: (body: string) => JSON.parse(body).error === 40101,
  });
  const page = (path: string, length: number) => ({
    method: "GET" as const,
    path,
    headers,
    status: 200,
    isExpected: (body: string) => JSON.parse(body).length === length,
  });
  return {
    create: {
      method: "POST",
      path: "/plants",
      headers: { ...headers, "Content-Type": "application/json" },
      body: `{"id":${ID},"name":"${name}","tag":"${tag}"}`,
      status: 200,
      isExpected: (body) => Bun.deepEquals(JSON.parse(body), { name, tag }),
    },
    list: page("/plants?limit=20", Math.min(plants, 20)),
    listAll: page("/plants", plants),
    listAfter: { ...page(`/plants?limit=20&after=${ID}`, 20), isExpected: (body) => JSON.parse(body).length <= 20 },
    delete: { method: "DELETE", path: `/plants/${ID}`, headers, status: 204, isExpected: (body) => body === "" },
    unknownToken: unauthorized(UNKNOWN_TOKEN),
    malformedToken: unauthorized(MALFORMED_TOKEN),
  };
}
