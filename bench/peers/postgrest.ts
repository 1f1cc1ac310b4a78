import { createHmac, randomBytes } from "node:crypto";
import { startPostgres } from "../../test/support/postgres.ts";
import { runCommand } from "../install.ts";
import { freePort, newFolder, pin, SERVER_CORE } from "../processes.ts";
import { PLANTS, seedPlant } from "../seed.ts";
import { ID } from "../servers/exchange.ts";
import { type Exchanges, launch } from "../servers/server.ts";
import type { Peer } from "./peer.ts";

const NAME = "PostgREST";
const SECRET = randomBytes(32).toString("hex");
const [{ name, tag }] = PLANTS;

/** PostgREST with a PostgreSQL server on the same core. */
export const postgrest: Peer = {
  name: NAME,
  role: "peer",
  version: Bun.which("postgrest") === null ? "" : runCommand(["postgrest", "--version"]).replace(/^\D*/, ""),
  durability: "on disk: PostgreSQL with fsync and synchronous_commit=on, one commit per create",
  async start({ plants, cores = SERVER_CORE }) {
    if (Bun.which("postgrest") === null) throw new Error("`postgrest` is not on the PATH");
    const postgres = await startPostgres();
    const database = await postgres.newDatabase();
    const [process] = await database.query<{ pid: string }>(
      "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid",
    );
    pin(Number(process?.pid), cores);
    await database.query("CREATE TABLE plants (id BIGINT PRIMARY KEY, name TEXT NOT NULL, tag TEXT)");
    const rows = JSON.stringify(Array.from({ length: plants }, (_, index) => seedPlant(index)));
    await database.query(`INSERT INTO plants SELECT * FROM json_populate_recordset(NULL::plants, '${rows}')`);
    const port = freePort();
    const server = await launch({
      name: NAME,
      role: "peer",
      url: `http://127.0.0.1:${port}`,
      command: ["postgrest"],
      env: settings(database.url, port),
      exchanges: exchanges(plants),
      cores,
      folder: newFolder(),
    });
    const stop = async () => {
      await server.stop();
      await database.drop();
      await postgres.stop();
    };
    return { ...server, stop };
  },
};

const settings = (databaseUrl: string, port: number) => ({
  PGRST_DB_URI: databaseUrl,
  PGRST_DB_SCHEMAS: "public",
  PGRST_JWT_SECRET: SECRET,
  PGRST_SERVER_HOST: "127.0.0.1",
  PGRST_SERVER_PORT: String(port),
  PGRST_LOG_LEVEL: "crit",
});

/** Signs a JSON Web Token for the database role `postgres` (RFC 7519, HS256). */
function signToken(): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode({ role: "postgres" })}`;
  return `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
}

function exchanges(plants: number): Exchanges {
  const headers = { Authorization: `Bearer ${signToken()}` };
  return {
    create: {
      method: "POST",
      path: "/plants",
      headers: { ...headers, "Content-Type": "application/json", Prefer: "return=representation" },
      body: `{"id":${ID},"name":"${name}","tag":"${tag}"}`,
      status: 201,
      isExpected: (body) => JSON.parse(body)[0].name === name,
    },
    list: {
      method: "GET",
      path: "/plants?select=name,tag&order=id&limit=20",
      headers,
      status: 200,
      isExpected: (body) => JSON.parse(body).length === Math.min(plants, 20),
    },
    delete: { method: "DELETE", path: `/plants?id=eq.${ID}`, headers, status: 204, isExpected: (body) => body === "" },
  };
}
