/**
 * Measures SQLite without a server: inserts the product's rows into the product's table in durably committed batches and
 * prints the rows per second. Arguments: database, seconds, first id.
 */
import { Database } from "bun:sqlite";
import { OWNER, PLANTS } from "../seed.ts";

const BATCH_SIZE = 64;

const [path = "", seconds = "", firstId = ""] = process.argv.slice(2);
const db = new Database(path);
db.run("PRAGMA journal_mode = WAL");
db.run("PRAGMA synchronous = FULL");
const insert = db.prepare("INSERT INTO plants (owner, id, name, tag) VALUES (?, ?, ?, ?)");
const [{ name, tag }] = PLANTS;

let id = Number(firstId);
const insertBatch = db.transaction(() => {
  for (let count = 0; count < BATCH_SIZE; count++) insert.run(OWNER, id++, name, tag);
});
const startedMs = performance.now();
const endMs = startedMs + Number(seconds) * 1_000;
while (performance.now() < endMs) insertBatch();
console.log((id - Number(firstId)) / ((performance.now() - startedMs) / 1_000));
db.close(true);
