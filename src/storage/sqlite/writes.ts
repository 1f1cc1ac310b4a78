import type { Database } from "bun:sqlite";
import type { Token } from "../../domain/token.ts";
import { PLANT_COLUMNS, plantValues, TOKEN_COLUMNS, tokenValues, type WithId } from "../rows.ts";
import type { InsertOutcome, PlantKey, StoredPlant } from "../storage.ts";

/**
 * The parameters and the result of each kind of write. {@link Storage} defines the writes. They are sent to the thread as
 * JSON, with ids in decimal digits, which SQLite converts exactly because the column is an INTEGER.
 */
interface Writes {
  insertPlant(write: { plant: WithId<StoredPlant, string> }): InsertOutcome;
  deletePlant(write: { plant: WithId<PlantKey, string> }): boolean;
  insertToken(write: { token: Token }): void;
  insertFirstToken(write: { token: Token }): boolean;
  revokeToken(write: { digest: string; revokedAt: number }): boolean;
  recordLastUses(write: { lastUses: readonly (readonly [digest: string, usedAt: number])[] }): void;
}

type WriteKind = keyof Writes;
/** A write as it is sent to the writer thread. */
export type Write<Kind extends WriteKind = WriteKind> = {
  [K in Kind]: { readonly kind: K } & Readonly<Parameters<Writes[K]>[0]>;
}[Kind];
/** The result of a write. */
export type WriteResult<Kind extends WriteKind = WriteKind> = ReturnType<Writes[Kind]>;

/** Prepares the statements of all writes. Returns a function that performs a write in the current transaction. */
export function prepareWrites(db: Database): (write: Write) => WriteResult {
  const insertPlant = db.prepare(insertInto("plants", PLANT_COLUMNS, "ON CONFLICT DO NOTHING"));
  const isEqual = PLANT_COLUMNS.map((column) => `${column} IS ?`).join(" AND ");
  const selectRepeated = db.prepare(`SELECT 1 FROM plants WHERE ${isEqual} AND idempotency_key NOT NULL`);
  const deletePlant = db.prepare("DELETE FROM plants WHERE owner = ? AND id = ?");
  const insertToken = db.prepare(insertInto("tokens", TOKEN_COLUMNS));
  const selectAnyToken = db.prepare("SELECT 1 FROM tokens LIMIT 1");
  const revokeToken = db.prepare("UPDATE tokens SET revoked_at = ? WHERE digest = ? AND revoked_at IS NULL");
  const recordLastUse = db.prepare("UPDATE tokens SET last_used_at = ? WHERE digest = ?");

  const handlers: { readonly [Kind in WriteKind]: (write: Write<Kind>) => WriteResult<Kind> } = {
    insertPlant({ plant }) {
      const values = plantValues(plant);
      if (insertPlant.run(...values).changes > 0) return "inserted";
      return selectRepeated.get(...values) === null ? "taken" : "repeated";
    },
    deletePlant: ({ plant: { owner, id } }) => deletePlant.run(owner, id).changes > 0,
    insertToken({ token }) {
      insertToken.run(...tokenValues(token));
    },
    insertFirstToken({ token }) {
      if (selectAnyToken.get() !== null) return false;
      insertToken.run(...tokenValues(token));
      return true;
    },
    revokeToken: ({ digest, revokedAt }) => revokeToken.run(revokedAt, digest).changes > 0,
    recordLastUses({ lastUses }) {
      for (const [digest, usedAt] of lastUses) recordLastUse.run(usedAt, digest);
    },
  };
  const perform = <Kind extends WriteKind>(write: Write<Kind>): WriteResult<Kind> => handlers[write.kind](write);
  return perform;
}

function insertInto(table: string, columns: readonly string[], onConflict = ""): string {
  const parameters = columns.map(() => "?").join(", ");
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${parameters}) ${onConflict}`;
}
