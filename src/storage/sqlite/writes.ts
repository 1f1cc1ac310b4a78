import type { Database } from "bun:sqlite";
import type { Owner } from "../../domain/plant.ts";
import { PLANT_COLUMNS, TOKEN_COLUMNS } from "../rows.ts";
import type { InsertOutcome } from "../storage.ts";

/** Values of a row as they cross threads: ids are decimal digits, which an INTEGER column converts exactly. */
type Row = readonly (string | number | null)[];

/** The parameters and the result of each kind of write. {@link Storage} defines the writes. */
interface Writes {
  insertPlant(write: { owner: Owner; values: Row }): InsertOutcome;
  removePlant(write: { owner: Owner; id: string }): boolean;
  insertToken(write: { values: Row }): void;
  insertFirstToken(write: { values: Row }): boolean;
  revokeToken(write: { digest: string; revokedAt: number }): boolean;
  noteTokenUses(write: { uses: readonly (readonly [digest: string, usedAt: number])[] }): void;
}

type WriteKind = keyof Writes;
/** A write as it is sent to the writer thread. */
export type Write<Kind extends WriteKind = WriteKind> = {
  [K in Kind]: { readonly kind: K } & Readonly<Parameters<Writes[K]>[0]>;
}[Kind];
/** The result of a write. */
export type WriteResult<Kind extends WriteKind = WriteKind> = ReturnType<Writes[Kind]>;

/** Prepares all writes. The result runs one in the current transaction. */
export function prepareWrites(db: Database): (write: Write) => WriteResult {
  const insertPlant = db.prepare(insertInto("plants", PLANT_COLUMNS, "ON CONFLICT DO NOTHING"));
  const isEqual = PLANT_COLUMNS.map((column) => `${column} IS ?`).join(" AND ");
  const selectRepeated = db.prepare(`SELECT 1 FROM plants WHERE ${isEqual} AND idempotency_key NOT NULL`);
  const removePlant = db.prepare("DELETE FROM plants WHERE owner = ? AND id = ?");
  const insertToken = db.prepare(insertInto("tokens", TOKEN_COLUMNS));
  const selectAnyToken = db.prepare("SELECT 1 FROM tokens LIMIT 1");
  const revokeToken = db.prepare("UPDATE tokens SET revoked_at = ? WHERE digest = ? AND revoked_at IS NULL");
  const noteTokenUse = db.prepare("UPDATE tokens SET last_used_at = ? WHERE digest = ?");

  const handlers: { readonly [Kind in WriteKind]: (write: Write<Kind>) => WriteResult<Kind> } = {
    insertPlant({ values }) {
      if (insertPlant.run(...values).changes > 0) return "inserted";
      return selectRepeated.get(...values) === null ? "taken" : "repeated";
    },
    removePlant: ({ owner, id }) => removePlant.run(owner, id).changes > 0,
    insertToken({ values }) {
      insertToken.run(...values);
    },
    insertFirstToken({ values }) {
      if (selectAnyToken.get() !== null) return false;
      insertToken.run(...values);
      return true;
    },
    revokeToken: ({ digest, revokedAt }) => revokeToken.run(revokedAt, digest).changes > 0,
    noteTokenUses({ uses }) {
      for (const [digest, usedAt] of uses) noteTokenUse.run(usedAt, digest);
    },
  };
  const perform = <Kind extends WriteKind>(write: Write<Kind>): WriteResult<Kind> => handlers[write.kind](write);
  return perform;
}

function insertInto(table: string, columns: readonly string[], onConflict = ""): string {
  const parameters = columns.map(() => "?").join(", ");
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${parameters}) ${onConflict}`;
}
