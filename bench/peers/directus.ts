import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../install.ts";
import { CACHE_FOLDER, freePort, newFolder } from "../processes.ts";
import { insertPlants, PLANTS } from "../seed.ts";
import { ID } from "../servers/exchange.ts";
import { type Exchanges, launch } from "../servers/server.ts";
import { type Peer, postJson } from "./peer.ts";

const NAME = "Directus";
/** The newest version whose packages are all published. */
const VERSION = "12.4.0";
/** Outside the repository, because a lock file of its 1,150 packages would be longer than the rest of the project. */
const FOLDER = join(CACHE_FOLDER, `directus-${VERSION}`);
const PROGRAM = join(FOLDER, "node_modules/directus/cli.js");
const TOKEN = "plantstore-benchmark-token";
const [{ name, tag }] = PLANTS;

/** Directus on SQLite, with a collection created through its API. */
export const directus: Peer = {
  name: NAME,
  role: "peer",
  version: VERSION,
  durability: "on disk: SQLite with a rollback journal, synchronous=FULL, one commit per create; also logs changes",
  async start({ plants, cores }) {
    install();
    const folder = newFolder();
    const path = join(folder.path, "data.db");
    copyFileSync(join(FOLDER, "data.db"), path);
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = await launch({
      name: NAME,
      role: "peer",
      url,
      command: ["node", PROGRAM, "start"],
      env: { ...settings(path), HOST: "127.0.0.1", PORT: String(port), PUBLIC_URL: url },
      cwd: folder.path,
      exchanges: {
        list: { method: "GET", path: "/server/ping", headers: {}, status: 200, isExpected: (body) => body === "pong" },
      },
      cores,
      folder,
    });
    await postJson(`${url}/collections`, COLLECTION, TOKEN);
    using db = new Database(path);
    insertPlants(db, plants, "plants", { id: "id", name: "name", tag: "tag" });
    return { ...server, exchanges: exchanges(plants) };
  },
};

const COLLECTION = {
  collection: "plants",
  schema: {},
  meta: {},
  fields: [
    { field: "id", type: "bigInteger", schema: { is_primary_key: true, has_auto_increment: false }, meta: {} },
    { field: "name", type: "string", schema: { max_length: 1_024, is_nullable: false }, meta: {} },
    { field: "tag", type: "string", schema: { max_length: 255 }, meta: {} },
  ],
};

const settings = (path: string) => ({
  NODE_ENV: "production",
  DB_CLIENT: "sqlite3",
  DB_FILENAME: path,
  SECRET: crypto.randomUUID(),
  ADMIN_EMAIL: "admin@example.com",
  ADMIN_PASSWORD: crypto.randomUUID(),
  ADMIN_TOKEN: TOKEN,
  LOG_LEVEL: "error",
  TELEMETRY: "false",
  // The limiter would reject requests under this load.
  PRESSURE_LIMITER_ENABLED: "false",
});

/** Installs Directus and creates its tables, once per version. */
function install(): void {
  const path = join(FOLDER, "data.db");
  if (existsSync(path)) return;
  console.error(`  installing Directus ${VERSION}; this takes a few minutes`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "package.json"), JSON.stringify({ private: true, dependencies: { directus: VERSION } }));
  if (!existsSync(PROGRAM))
    runCommand(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: FOLDER });
  const temporary = `${path}.temporary`;
  runCommand(["node", PROGRAM, "bootstrap"], { cwd: FOLDER, env: settings(temporary) });
  renameSync(temporary, path);
}

function exchanges(plants: number): Exchanges {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const unauthorized = {
    method: "GET",
    path: "/items/plants?limit=20",
    headers: { Authorization: `Bearer ${TOKEN}x` },
    status: 401,
    isExpected: (body: string) => JSON.parse(body).errors[0].extensions.code === "INVALID_CREDENTIALS",
  } as const;
  return {
    create: {
      method: "POST",
      path: "/items/plants",
      headers: { ...headers, "Content-Type": "application/json" },
      body: `{"id":${ID},"name":"${name}","tag":"${tag}"}`,
      status: 200,
      isExpected: (body) => JSON.parse(body).data.name === name,
    },
    list: {
      method: "GET",
      path: "/items/plants?limit=20&sort=id&fields=name,tag",
      headers,
      status: 200,
      isExpected: (body) => JSON.parse(body).data.length === Math.min(plants, 20),
    },
    delete: { method: "DELETE", path: `/items/plants/${ID}`, headers, status: 204, isExpected: (body) => body === "" },
    unknownToken: unauthorized,
    malformedToken: unauthorized,
  };
}
