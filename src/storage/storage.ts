import type { PlantFilter } from "../domain/list-query.ts";
import type { Owner, Plant, PlantId } from "../domain/plant.ts";
import type { Token } from "../domain/token.ts";

/** A range of an owner's plants, in ascending order of id. */
export interface PlantRange extends PlantFilter {
  /** The maximum number of plants, at least 1. */
  readonly limit: number;
  /** Approximate maximum of UTF-16 units in names and tags. The first plant that exceeds it is the last one. */
  readonly maxCharacters?: number;
}

/** The primary key of a plant. */
export interface PlantKey {
  readonly owner: Owner;
  readonly id: PlantId;
}

/** A plant as it is stored, with its owner and the idempotency key of its create, if any. */
export interface StoredPlant extends Plant, PlantKey {
  readonly idempotencyKey: string | undefined;
}

/**
 * - `inserted`: the plant was inserted.
 * - `repeated`: an earlier create with the same idempotency key, id, name and tag inserted it.
 * - `taken`: the owner has another plant with this id; nothing changed.
 */
export type InsertOutcome = "inserted" | "repeated" | "taken";

/** A batch of writes that is durable. */
export interface Commit {
  /** Number of writes, at least 1. */
  readonly writes: number;
  /** Time from sending the batch to its acknowledgement. */
  readonly durationMs: number;
}

/** The state of a database, for metrics. */
export interface StorageState {
  /** Number of queued writes. */
  readonly queuedWrites: number;
  /** Bytes on disk by part: `database`, and for SQLite also `wal`. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Number of connections to the database server by state: `busy` or `idle`. */
  readonly connections: Readonly<Record<string, number>>;
}

/**
 * The interface of the storage engines. `test/storage/contract.ts` tests every engine against it.
 *
 * - A write is atomic and resolves once it is durable. When it rejects with `unavailable`, its outcome is unknown.
 * - A read that starts after a write resolved sees it.
 * - Text is returned exactly as it was stored; texts are compared by code point.
 * - Every method rejects with `AppError` `unavailable` when the database is unreachable, full or overloaded.
 */
export interface Storage {
  /** Inserts a plant unless its owner already uses the id. */
  insertPlant(owner: Owner, plant: Plant, idempotencyKey: string | undefined): Promise<InsertOutcome>;

  /** Deletes a plant; resolves with `false` when the owner has none with this id. */
  deletePlant(owner: Owner, id: PlantId): Promise<boolean>;

  /** Reads a range of the owner's plants from one snapshot. Never waits for a write. */
  selectPlants(owner: Owner, range: PlantRange): Promise<Plant[]>;

  /**
   * Reads plants of all owners, for `copy`: at most `limit` (1 or more) after `after`, ordered by owner (by code point) and
   * id. Continuing after the last one until fewer than `limit` are returned reads each plant that exists throughout exactly
   * once.
   */
  selectStoredPlants(after: PlantKey | undefined, limit: number): Promise<StoredPlant[]>;

  /**
   * Returns the version of the owner's plants: while it is unchanged, a read returns the same plants. It changes no later
   * than the first read that sees a write, and before the write resolves. `undefined` if other processes write too.
   */
  version(owner: Owner): number | undefined;

  /** Inserts a token, whose digest must be new. */
  insertToken(token: Token): Promise<void>;

  /** Inserts a token; resolves with `false` if the database has any token, even a revoked one. Atomic across processes. */
  insertFirstToken(token: Token): Promise<boolean>;

  /** Reads the token with this digest, even if it is revoked or expired. */
  selectToken(digest: string): Promise<Token | undefined>;

  /** Reads all tokens, oldest first. */
  selectTokens(): Promise<Token[]>;

  /** Revokes a token; resolves with `false` when it does not exist or is already revoked. Times are in epoch milliseconds. */
  revokeToken(digest: string, revokedAt: number): Promise<boolean>;

  /** Stores the last-use times of tokens by digest, in epoch milliseconds. Unknown digests are ignored. */
  recordLastUses(lastUses: ReadonlyMap<string, number>): Promise<void>;

  /** Resolves when the database has responded to a query. */
  ping(): Promise<void>;

  /** Returns the state without waiting for the database. Sizes that are not known are absent. */
  state(): Promise<StorageState>;

  /** Completes the queued writes and closes the database. No method may be called afterwards. */
  close(): Promise<void>;
}
