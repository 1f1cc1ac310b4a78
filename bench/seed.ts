import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SCOPES } from "../src/domain/token.ts";
import { openStorage } from "../src/storage/open.ts";
import { Tokens } from "../src/tokens.ts";
import { CACHE } from "./processes.ts";
import { FIRST_ID, ID_STEP } from "./servers/exchange.ts";

/** Whose plants they are. */
export const OWNER = "bench";

/** What plants are like: California's flora, with a few tags, as a store of plants would have it. */
export const PLANTS = [
  { name: "Aristolochia californica", tag: "vine" },
  { name: "Clarkia unguiculata", tag: "annual" },
  { name: "Eschscholzia californica", tag: "annual" },
  { name: "Quercus agrifolia", tag: "tree" },
  { name: "Sequoia sempervirens", tag: "tree" },
  { name: "Ceanothus thyrsiflorus", tag: "shrub" },
  { name: "Arctostaphylos manzanita", tag: "shrub" },
  { name: "Iris douglasiana", tag: "perennial" },
  { name: "Vitis californica", tag: "vine" },
  { name: "Mimulus aurantiacus", tag: "perennial" },
] as const;

/** The plant with this number, from 0, that a store begins with. */
export const seedPlant = (index: number) => ({
  id: FIRST_ID + index * ID_STEP,
  ...(PLANTS[index % PLANTS.length] as (typeof PLANTS)[number]),
});

/** What SQLite inserts at a time, so that its log stays short. */
const CHUNK = 100_000;

/**
 * The same for a table of a SQLite database: `columns` are the names of its columns
 * and the SQL that each is filled with, from `id`, `name` and `tag`.
 */
export function insertPlants(
  db: Database,
  plants: number,
  table: string,
  columns: Readonly<Record<string, string>>,
): void {
  const choose = (field: "name" | "tag") =>
    `CASE n % ${PLANTS.length} ${PLANTS.map((plant, index) => `WHEN ${index} THEN '${plant[field]}'`).join(" ")} END`;
  const insert = db.prepare(
    `WITH RECURSIVE
       numbers (n) AS (VALUES (?1) UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2),
       seeds (id, name, tag) AS (SELECT ${FIRST_ID} + n * ${ID_STEP}, ${choose("name")}, ${choose("tag")} FROM numbers)
     INSERT INTO ${table} (${Object.keys(columns)}) SELECT ${Object.values(columns)} FROM seeds`,
  );
  for (let first = 0; first < plants; first += CHUNK) insert.run(first, Math.min(first + CHUNK, plants));
}

/**
 * Puts a copy of a database of the product at `path`, with some plants of one owner, whose token it returns. It is
 * made once and kept in the cache. Its bytes are on the disk afterwards.
 */
export async function copySeeded(plants: number, path: string): Promise<string> {
  const folder = join(CACHE, `store-${schemaVersion()}-${plants}`);
  if (!existsSync(folder)) await make(folder, plants);
  copyFileSync(join(folder, "plants.db"), path);
  Bun.spawnSync(["sync", path]);
  return readFileSync(join(folder, "token"), "utf8");
}

/** The product makes the tables and the token; the plants come in bulk. */
async function make(folder: string, plants: number): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const path = join(unfinished, "plants.db");
  const storage = await openStorage(`sqlite:${path}`, { forServer: false });
  writeFileSync(join(unfinished, "token"), await new Tokens(storage).create({ owner: OWNER, scopes: SCOPES }));
  await storage.close();
  const db = new Database(path);
  db.run("PRAGMA synchronous = OFF");
  insertPlants(db, plants, "plants", { owner: `'${OWNER}'`, id: "id", name: "name", tag: "tag" });
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close(true);
  renameSync(unfinished, folder);
}

/** Changes with the tables, so that no database of an older version is taken from the cache. */
function schemaVersion(): string {
  const source = readFileSync(join(import.meta.dir, "../src/storage/sqlite/migrations.ts"));
  return createHash("sha256").update(source).digest("hex").slice(0, 8);
}
