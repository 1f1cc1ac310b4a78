import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "../install.ts";
import { CACHE_FOLDER, freePort, newFolder } from "../processes.ts";
import { insertPlants, PLANTS } from "../seed.ts";
import { type Exchange, ID } from "../servers/exchange.ts";
import { type Exchanges, launch } from "../servers/server.ts";
import { type Peer, peerFolder, postJson } from "./peer.ts";

const NAME = "PocketBase";
const FOLDER = peerFolder("pocketbase");
const MODULE = readFileSync(join(FOLDER, "go.mod"), "utf8");
const [{ name, tag }] = PLANTS;
const ADMIN = { identity: "admin@example.com", password: crypto.randomUUID() };
const USER = { identity: "user@example.com", password: crypto.randomUUID() };
/** PocketBase ids have 15 characters. */
const LONG_ID = `0000${ID}`;
const RECORDS = "/api/collections/plants/records";

const ready: Exchange = {
  method: "GET",
  path: "/api/health",
  headers: {},
  status: 200,
  isExpected: (body) => JSON.parse(body).code === 200,
};

/** PocketBase with a collection that signed-in users may read and write. */
export const pocketBase: Peer = {
  name: NAME,
  role: "peer",
  version: /pocketbase\/pocketbase v(\S+)/.exec(MODULE)?.[1] ?? "",
  durability: "survives a crash of the process, but not of the machine: SQLite in WAL mode, synchronous=NORMAL",
  async start({ plants, cores }) {
    const program = build();
    const folder = newFolder();
    const data = join(folder.path, "data");
    runCommand([program, "superuser", "upsert", ADMIN.identity, ADMIN.password, "--dir", data]);
    const address = `127.0.0.1:${freePort()}`;
    const server = await launch({
      name: NAME,
      role: "peer",
      url: `http://${address}`,
      // PocketBase enables development mode for an executable in the temporary folder.
      command: [program, "serve", "--dev=false", "--http", address, "--dir", data],
      exchanges: { list: ready },
      cores,
      folder,
    });
    const token = await createCollection(server.url);
    using db = new Database(join(data, "data.db"));
    db.run("PRAGMA busy_timeout = 5000");
    insertPlants(db, plants, "plants", { id: "'0000' || id", name: "name", tag: "tag" });
    return { ...server, exchanges: exchanges(token, plants) };
  },
};

/** Builds PocketBase from its Go module, once per version. */
function build(): string {
  const version = createHash("sha256").update(MODULE).digest("hex").slice(0, 8);
  const program = join(CACHE_FOLDER, `pocketbase-${version}`);
  if (existsSync(program)) return program;
  if (Bun.which("go") === null) throw new Error("building it requires Go: https://go.dev/doc/install");
  mkdirSync(CACHE_FOLDER, { recursive: true });
  console.error("  building PocketBase; this takes a few minutes");
  runCommand(["go", "build", "-o", program, "."], { cwd: FOLDER, env: { CGO_ENABLED: "0" } });
  return program;
}

/** Creates the collection and a user, and returns the user's token. */
async function createCollection(url: string): Promise<string> {
  const signIn = async (collection: string, credentials: typeof ADMIN) =>
    (await postJson(`${url}/api/collections/${collection}/auth-with-password`, credentials))["token"] as string;
  const admin = await signIn("_superusers", ADMIN);
  const signedIn = '@request.auth.id != ""';
  const plants = {
    name: "plants",
    type: "base",
    listRule: signedIn,
    createRule: signedIn,
    deleteRule: signedIn,
    fields: [
      { name: "name", type: "text", required: true, max: 1_024 },
      { name: "tag", type: "text", max: 255 },
    ],
  };
  await postJson(`${url}/api/collections`, plants, admin);
  const user = { email: USER.identity, password: USER.password, passwordConfirm: USER.password };
  await postJson(`${url}/api/collections/users/records`, user, admin);
  return signIn("users", USER);
}

function exchanges(token: string, plants: number): Exchanges {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    create: {
      method: "POST",
      path: RECORDS,
      headers: { ...headers, "Content-Type": "application/json" },
      body: `{"id":"${LONG_ID}","name":"${name}","tag":"${tag}"}`,
      status: 200,
      isExpected: (body) => JSON.parse(body).name === name,
    },
    list: {
      method: "GET",
      // Skips the total, which PocketBase would count for every request.
      path: `${RECORDS}?perPage=20&skipTotal=1&sort=id`,
      headers,
      status: 200,
      isExpected: (body) => JSON.parse(body).items.length === Math.min(plants, 20),
    },
    delete: {
      method: "DELETE",
      path: `${RECORDS}/${LONG_ID}`,
      headers,
      status: 204,
      isExpected: (body) => body === "",
    },
  };
}
