import type { NewPlant, Owner, PlantId } from "../../domain/plant.ts";
import type { InsertOutcome } from "../storage.ts";
import { sqlState } from "./connection.ts";
import type { Pool } from "./pool.ts";

/** A plant to insert, with what tells its repeats. */
export interface Insert extends NewPlant {
  readonly idempotencyKey: string | undefined;
}

interface PlantRow {
  readonly id: PlantId;
  readonly name: string;
  readonly tag: string | null;
  readonly idempotency_key: string | null;
}

/** SQLSTATE (PostgreSQL manual, appendix A). */
const UNIQUE_VIOLATION = "23505";

/** Inserts all plants, or none of them when an id is taken. */
const allSql = insertSql("");
/** Inserts those whose ids are free. */
const freeSql = insertSql("ON CONFLICT (owner, id) DO NOTHING");

/**
 * How long after one taken id more of them are expected: PostgreSQL logs each statement that it refuses, and a few a
 * minute are enough.
 */
const WARY_MS = 60_000;

/**
 * Inserts plants. As long as no id is taken, the statement does not say what to do about that, which costs the server a
 * third less (measured 2026-11: 6 to 7 µs a row against 9 to 10); where one is, another statement does.
 */
export class Inserter {
  readonly #pool: Pool;
  #waryUntilMs = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /**
   * Inserts plants of one owner, no id twice, in one transaction. `undefined` stands for a plant that met another one
   * with its id which is gone by now: it was not inserted, and may be tried again.
   */
  async insert(owner: Owner, inserts: readonly Insert[]): Promise<(InsertOutcome | undefined)[]> {
    // One order for all: two statements that insert the same ids wait for each other and never deadlock.
    const sorted = inserts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const rows = sorted.map(({ id, name, tag, idempotencyKey }) => [id, name, tag ?? null, idempotencyKey ?? null]);
    const insertedIds = new Set(await this.#insertRows([owner, ...rows.flat()], rows.length));
    const met = inserts.filter(({ id, idempotencyKey }) => idempotencyKey !== undefined && !insertedIds.has(id));
    const existing = met.length === 0 ? new Map<PlantId, PlantRow>() : await selectByIds(this.#pool, owner, met);
    return inserts.map((insert) => {
      if (insertedIds.has(insert.id)) return "inserted";
      return insert.idempotencyKey === undefined ? "taken" : compare(insert, existing.get(insert.id));
    });
  }

  /** The ids that were free, and are now those of the new plants. */
  async #insertRows(values: unknown[], length: number): Promise<PlantId[]> {
    const send = async (sql: string) => (await this.#pool.query<{ id: PlantId }>(sql, values)).map(({ id }) => id);
    if (performance.now() >= this.#waryUntilMs) {
      try {
        return await send(allSql(length));
      } catch (error) {
        if (sqlState((error as Error).cause) !== UNIQUE_VIOLATION) throw error;
        this.#waryUntilMs = performance.now() + WARY_MS;
      }
    }
    return await send(freeSql(length));
  }
}

/** Removes plants of one owner, no id twice, in one statement: whether each was there. */
export async function removePlants(pool: Pool, owner: Owner, ids: readonly PlantId[]): Promise<boolean[]> {
  const sql = "DELETE FROM plants WHERE owner = $1 AND id = ANY($2::bigint[]) RETURNING id";
  const rows = await pool.query<{ id: PlantId }>(sql, [owner, ids]);
  const removedIds = new Set(rows.map(({ id }) => id));
  return ids.map((id) => removedIds.has(id));
}

async function selectByIds(
  pool: Pool,
  owner: Owner,
  plants: readonly { readonly id: PlantId }[],
): Promise<Map<PlantId, PlantRow>> {
  const sql = "SELECT id, name, tag, idempotency_key FROM plants WHERE owner = $1 AND id = ANY($2::bigint[])";
  const rows = await pool.query<PlantRow>(sql, [owner, plants.map(({ id }) => id)]);
  return new Map(rows.map((row) => [row.id, row]));
}

function compare({ name, tag, idempotencyKey }: Insert, row: PlantRow | undefined): InsertOutcome | undefined {
  if (row === undefined) return undefined;
  const isSame = row.idempotency_key === idempotencyKey && row.name === name && row.tag === (tag ?? null);
  return isSame ? "repeated" : "taken";
}

/**
 * Makes the statement for any number of plants, each once. Rows of VALUES, not unnest: a distributed PostgreSQL sends
 * them straight to the one shard of their owner.
 */
function insertSql(onTaken: string): (length: number) => string {
  const texts = new Map<number, string>();
  const write = (length: number) => {
    const rows = Array.from({ length }, (_, n) => `($1, $${4 * n + 2}, $${4 * n + 3}, $${4 * n + 4}, $${4 * n + 5})`);
    return `INSERT INTO plants (owner, id, name, tag, idempotency_key) VALUES ${rows.join(", ")} ${onTaken} RETURNING id`;
  };
  return (length) => texts.getOrInsertComputed(length, write);
}
