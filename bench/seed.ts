import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Tokens } from "../src/auth/tokens.ts";
import { SCOPES } from "../src/domain/token.ts";
import { openStorage } from "../src/storage/open.ts";
import { CACHE_FOLDER } from "./processes.ts";
import { FIRST_ID, ID_STEP } from "./servers/exchange.ts";

/** Owner of the seeded plants. */
export const OWNER = "bench";

/** Names and tags of the seeded plants: California's flora. */
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

/** Returns the seeded plant with this index, from 0. */
export const seedPlant = (index: number) => ({
  id: FIRST_ID + index * ID_STEP,
  ...(PLANTS[index % PLANTS.length] as (typeof PLANTS)[number]),
});

/** Plants per INSERT, which limits the size of the WAL. */
const INSERT_BATCH = 100_000;

/** Inserts seeded plants into a SQLite table. `columns` maps its columns to SQL expressions of `id`, `name` and `tag`. */
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
  for (let first = 0; first < plants; first += INSERT_BATCH) insert.run(first, Math.min(first + INSERT_BATCH, plants));
}

/**
 * Copies a product database with this number of plants to `path`, syncs it, and returns the token of the plants' owner.
 * The original is created once and cached across runs.
 */
export async function copySeeded(plants: number, path: string): Promise<string> {
  const folder = join(CACHE_FOLDER, `store-${schemaVersion()}-${plants}`);
  if (!existsSync(folder)) await createSeeded(folder, plants);
  copyFileSync(join(folder, "plants.db"), path);
  Bun.spawnSync(["sync", path]);
  return readFileSync(join(folder, "token"), "utf8");
}

/** Creates the tables and the token with the product's code, and inserts the plants in bulk. */
async function createSeeded(folder: string, plants: number): Promise<void> {
  const temporary = `${folder}.temporary`;
  rmSync(temporary, { recursive: true, force: true });
  mkdirSync(temporary, { recursive: true });
  const path = join(temporary, "plants.db");
  const storage = await openStorage({ engine: "sqlite", file: path }, { forServer: false });
  writeFileSync(join(temporary, "token"), await new Tokens(storage).create({ owner: OWNER, scopes: SCOPES }));
  await storage.close();
  const db = new Database(path);
  db.run("PRAGMA synchronous = OFF");
  insertPlants(db, plants, "plants", { owner: `'${OWNER}'`, id: "id", name: "name", tag: "tag" });
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close(true);
  renameSync(temporary, folder);
}

/** Returns a hash of the migrations, so that a cached database with an older schema is not used. */
function schemaVersion(): string {
  const source = readFileSync(join(import.meta.dir, "../src/storage/sqlite/migrations.ts"));
  return createHash("sha256").update(source).digest("hex").slice(0, 8);
}
