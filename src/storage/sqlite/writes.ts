import type { Database } from "bun:sqlite";
import type { Owner } from "../../domain/plant.ts";
import type { Token } from "../../domain/token.ts";
import { tokenValues } from "../rows.ts";
import type { InsertOutcome } from "../storage.ts";

/**
 * Prepares all writes, by name. They run on the writer thread, in the transaction of their batch; {@link Storage} defines
 * them. Arguments and results cross threads as JSON, ids as decimal digits.
 */
export function prepareWrites(db: Database) {
  const insertPlant = db.prepare(
    "INSERT INTO plants (owner, id, name, tag, idempotency_key) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const selectRepeated = db.prepare(
    "SELECT 1 FROM plants WHERE owner = ? AND id = ? AND name = ? AND tag IS ? AND idempotency_key = ?",
  );
  const removePlant = db.prepare("DELETE FROM plants WHERE owner = ? AND id = ?");
  const insertToken = db.prepare(
    "INSERT INTO tokens (digest, owner, scopes, label, created_at, expires_at, last_used_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const selectAnyToken = db.prepare("SELECT 1 FROM tokens LIMIT 1");
  const revokeToken = db.prepare("UPDATE tokens SET revoked_at = ? WHERE digest = ? AND revoked_at IS NULL");
  const noteTokenUse = db.prepare("UPDATE tokens SET last_used_at = ? WHERE digest = ?");

  return {
    insertPlant(owner: Owner, id: string, name: string, tag: string | null, key: string | null): InsertOutcome {
      if (insertPlant.run(owner, BigInt(id), name, tag, key).changes > 0) return "inserted";
      return selectRepeated.get(owner, BigInt(id), name, tag, key) === null ? "taken" : "repeated";
    },

    removePlant: (owner: Owner, id: string): boolean => removePlant.run(owner, BigInt(id)).changes > 0,

    insertToken(token: Token): void {
      insertToken.run(...tokenValues(token));
    },

    insertFirstToken(token: Token): boolean {
      if (selectAnyToken.get() !== null) return false;
      this.insertToken(token);
      return true;
    },

    revokeToken: (digest: string, revokedAt: number): boolean => revokeToken.run(revokedAt, digest).changes > 0,

    noteTokenUses(uses: readonly (readonly [digest: string, usedAt: number])[]): void {
      for (const [digest, usedAt] of uses) noteTokenUse.run(usedAt, digest);
    },
  };
}

/** All writes, by name. */
export type Writes = ReturnType<typeof prepareWrites>;
/** One write as it is sent to the writer thread: its name and its arguments. */
export type Write = { [N in keyof Writes]: readonly [N, ...Parameters<Writes[N]>] }[keyof Writes];
