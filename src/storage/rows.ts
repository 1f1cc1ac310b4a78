import type { Plant, PlantId } from "../domain/plant.ts";
import type { Scope, Token } from "../domain/token.ts";
import type { StoredPlant } from "./storage.ts";

/** The columns of `plants` that a list reads, the same in every engine. */
export interface PlantRow {
  readonly id: PlantId;
  readonly name: string;
  readonly tag: string | null;
}

/** Converts a row to a plant. */
export const toPlant = ({ id, name, tag }: PlantRow): Plant => (tag === null ? { id, name } : { id, name, tag });

/** A complete row of `plants`. */
export interface StoredPlantRow extends PlantRow {
  readonly owner: string;
  readonly idempotency_key: string | null;
}

/** Converts a complete row to a stored plant. */
export function toStoredPlant({ owner, id, name, tag, idempotency_key: key }: StoredPlantRow): StoredPlant {
  return { owner, id, name, ...(tag === null ? {} : { tag }), idempotencyKey: key ?? undefined };
}

/** A row of `tokens`, the same in every engine. Times are in epoch milliseconds. */
export interface TokenRow {
  readonly digest: string;
  readonly owner: string;
  readonly scopes: string;
  readonly label: string | null;
  readonly created_at: bigint;
  readonly expires_at: bigint | null;
  readonly last_used_at: bigint | null;
  readonly revoked_at: bigint | null;
}

/** The columns of a token's row, in the order of the engines' INSERT statements. */
export function tokenValues(token: Token): (string | number | null)[] {
  const { digest, owner, scopes, label, createdAt, expiresAt, lastUsedAt, revokedAt } = token;
  const times = [createdAt, expiresAt, lastUsedAt, revokedAt].map((time) => time ?? null);
  return [digest, owner, scopes.join(" "), label ?? null, ...times];
}

/** Converts a row to a token. */
export function toToken(row: TokenRow): Token {
  const time = (value: bigint | null) => (value === null ? undefined : Number(value));
  return {
    digest: row.digest,
    owner: row.owner,
    scopes: row.scopes.split(" ") as Scope[],
    label: row.label ?? undefined,
    createdAt: Number(row.created_at),
    expiresAt: time(row.expires_at),
    lastUsedAt: time(row.last_used_at),
    revokedAt: time(row.revoked_at),
  };
}
