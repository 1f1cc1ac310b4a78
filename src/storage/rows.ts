import { PLANT_FIELDS, type Plant, type PlantField } from "../domain/plant.ts";
import type { Scope, Token } from "../domain/token.ts";
import type { PlantKey, StoredPlant } from "./storage.ts";

type ColumnValue<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value;

/** A plant whose id has another type. */
export type WithId<T extends PlantKey, Id> = Omit<T, "id"> & { readonly id: Id };

/** The column of each field. A field of `StoredPlant` without a column is a compile error. */
const PLANT_COLUMN_OF: Readonly<Record<keyof StoredPlant, string>> = {
  owner: "owner",
  ...(Object.fromEntries(PLANT_FIELDS.map((field) => [field, field])) as Record<PlantField, string>),
  idempotencyKey: "idempotency_key",
};
const STORED_FIELDS = Object.keys(PLANT_COLUMN_OF) as readonly (keyof StoredPlant)[];

/** All columns of `plants`, the owner first. The columns of all tables are the same in every engine. */
export const PLANT_COLUMNS: readonly string[] = Object.values(PLANT_COLUMN_OF);
/** The columns of `plants` that a list reads. */
export const LIST_COLUMNS = PLANT_FIELDS.map((field) => PLANT_COLUMN_OF[field]).join(", ");

/** A row of {@link LIST_COLUMNS}. */
export type PlantRow = { readonly [Field in keyof Plant]-?: ColumnValue<Plant[Field]> };
/** A row of {@link PLANT_COLUMNS}. */
export type StoredPlantRow = PlantRow & { readonly owner: string; readonly idempotency_key: string | null };

/** Returns the values of a plant's row, in the order of {@link PLANT_COLUMNS}. */
export const plantValues = <Id>(plant: WithId<StoredPlant, Id>): (Id | string | null)[] =>
  STORED_FIELDS.map((field) => plant[field] ?? null);

/** Converts a row to a plant. A loop over the fields takes three times as long (measured 2026-11: 58 ns against 20). */
export const toPlant = ({ id, name, tag }: PlantRow): Plant =>
  tag === null ? { id, name } : ({ id, name, tag } satisfies Required<Plant>);

/** Converts a complete row to a stored plant. */
export function toStoredPlant(row: StoredPlantRow): StoredPlant {
  return { owner: row.owner, ...toPlant(row), idempotencyKey: row.idempotency_key ?? undefined };
}

const TOKEN_COLUMN_OF: Readonly<Record<keyof Token, keyof TokenRow>> = {
  digest: "digest",
  owner: "owner",
  scopes: "scopes",
  label: "label",
  createdAt: "created_at",
  expiresAt: "expires_at",
  lastUsedAt: "last_used_at",
  revokedAt: "revoked_at",
};
const TOKEN_FIELDS = Object.keys(TOKEN_COLUMN_OF) as readonly (keyof Token)[];

/** All columns of `tokens`. */
export const TOKEN_COLUMNS: readonly string[] = Object.values(TOKEN_COLUMN_OF);

/** A row of `tokens`. Times are in epoch milliseconds, scopes are separated by spaces. */
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

/** Returns the values of a token's row, in the order of {@link TOKEN_COLUMNS}. */
export function tokenValues(token: Token): (string | number | null)[] {
  const columns = { ...token, scopes: token.scopes.join(" ") };
  return TOKEN_FIELDS.map((field) => columns[field] ?? null);
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
