// A hand-written service: Fastify with a schema for every route, better-sqlite3, one commit per create.
// Arguments: database, port. Environment: TOKEN, OWNER.
import { createHash } from "node:crypto";
import Database from "better-sqlite3";
import Fastify from "fastify";

const [path, port] = process.argv.slice(2);

const db = new Database(path);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec(`
  CREATE TABLE IF NOT EXISTS plants (
    owner TEXT NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, PRIMARY KEY (owner, id)
  );
  CREATE TABLE IF NOT EXISTS tokens (digest TEXT PRIMARY KEY, owner TEXT NOT NULL);
`);
const insertPlant = db.prepare("INSERT INTO plants (owner, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING");
const selectPlants = db.prepare("SELECT name, tag FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?");
const deletePlant = db.prepare("DELETE FROM plants WHERE owner = ? AND id = ?");
const selectOwner = db.prepare("SELECT owner FROM tokens WHERE digest = ?").pluck();

const digest = (token) => createHash("sha256").update(token).digest("hex");
db.prepare("INSERT OR IGNORE INTO tokens VALUES (?, ?)").run(digest(process.env.TOKEN), process.env.OWNER);

const plant = {
  type: "object",
  required: ["name"],
  properties: {
    id: { type: "integer" },
    name: { type: "string", minLength: 1, maxLength: 1024 },
    tag: { type: "string", maxLength: 255 },
  },
};
const responsePlant = { type: "object", properties: { name: { type: "string" }, tag: { type: "string" } } };
const error = { type: "object", properties: { error: { type: "integer" }, message: { type: "string" } } };

const app = Fastify();
app.decorateRequest("owner", null);
app.addHook("onRequest", async (request, reply) => {
  const [scheme, token] = (request.headers.authorization ?? "").split(" ");
  request.owner = scheme === "Bearer" ? selectOwner.get(digest(token ?? "")) : undefined;
  if (request.owner === undefined) return reply.code(401).send({ error: 40101, message: "invalid token" });
});

app.post(
  "/plants",
  { schema: { body: { ...plant, required: ["id", "name"] }, response: { 200: responsePlant, 400: error } } },
  async ({ owner, body }, reply) => {
    const { changes } = insertPlant.run(owner, body.id, body.name, body.tag ?? null);
    if (changes === 0) return reply.code(400).send({ error: 40003, message: "id already in use" });
    return { name: body.name, tag: body.tag };
  },
);

const query = {
  type: "object",
  properties: { limit: { type: "integer", minimum: 1, default: 100 }, after: { type: "integer", default: 0 } },
};
app.get(
  "/plants",
  { schema: { querystring: query, response: { 200: { type: "array", items: responsePlant } } } },
  async ({ owner, query: { after, limit } }) => selectPlants.all(owner, after, limit),
);

const params = { type: "object", properties: { id: { type: "integer" } } };
app.delete("/plants/:id", { schema: { params } }, async ({ owner, params: { id } }, reply) => {
  const { changes } = deletePlant.run(owner, id);
  return changes === 0 ? reply.code(404).send({ error: 40400, message: "no such plant" }) : reply.code(204).send();
});

await app.listen({ host: "127.0.0.1", port: Number(port) });
