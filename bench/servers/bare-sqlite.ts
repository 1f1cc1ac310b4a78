/**
 * What SQLite can do without a server: inserts the product's rows into the product's tables in groups, each committed
 * durably, for some seconds, and prints how many it made a second. Arguments: database, seconds, first id.
 */
import { Database } from "bun:sqlite";
import { OWNER, PLANTS } from "../seed.ts";

const GROUP = 64;

const [path = "", seconds = "", firstId = ""] = process.argv.slice(2);
const db = new Database(path);
db.run("PRAGMA journal_mode = WAL");
db.run("PRAGMA synchronous = FULL");
const insert = db.prepare("INSERT INTO plants (owner, id, name, tag) VALUES (?, ?, ?, ?)");
const [{ name, tag }] = PLANTS;

let id = Number(firstId);
const insertGroup = db.transaction(() => {
  for (let count = 0; count < GROUP; count++) insert.run(OWNER, id++, name, tag);
});
const started = performance.now();
const end = started + Number(seconds) * 1_000;
while (performance.now() < end) insertGroup();
console.log((id - Number(firstId)) / ((performance.now() - started) / 1_000));
db.close(true);
