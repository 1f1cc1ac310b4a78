import type { PlantFilter } from "../domain/page.ts";
import type { NewPlant, Owner, PlantId } from "../domain/plant.ts";
import type { Token } from "../domain/token.ts";

/** A stretch of an owner's plants, in ascending order of id. */
export interface PlantRange extends PlantFilter {
  /** At most so many: at least 1. */
  readonly limit: number;
}

/** What tells a plant from all others. */
export interface PlantKey {
  readonly owner: Owner;
  readonly id: PlantId;
}

/** A plant with all that is kept of it: whose it is, and the idempotency key of its create, if it had one. */
export interface StoredPlant extends NewPlant, PlantKey {
  readonly idempotencyKey: string | undefined;
}

/**
 * - `inserted`: the plant is new.
 * - `repeated`: it was inserted before by the same create: same idempotency key, id, name and tag.
 * - `taken`: the owner has another plant with this id; nothing was changed.
 */
export type InsertOutcome = "inserted" | "repeated" | "taken";

/** A group of writes that is on disk. */
export interface Commit {
  /** At least 1. */
  readonly writes: number;
  /** From when the group left to when it was known to be on disk. */
  readonly durationMs: number;
}

/** How a database is doing. */
export interface StorageState {
  /** Writes that wait for their group to leave. */
  readonly waitingWrites: number;
  /** Bytes on disk, by what they are for: `database`, and `wal` for the log of a SQLite database. */
  readonly bytes: Readonly<Record<string, number>>;
  /** Connections to a database server, by what they do: `busy` or `idle`. */
  readonly connections: Readonly<Record<string, number>>;
}

/**
 * What every database engine promises. One suite, `test/storage.contract.ts`, holds every engine to it.
 *
 * - A write resolves once it is durable, and is atomic: when it rejects with `unavailable` its outcome is unknown,
 *   but it is whole or absent.
 * - A read that starts after a write resolved sees it.
 * - Text comes back exactly as it was given; all comparisons of text are by code point, exact.
 * - Every method rejects with `AppError` `unavailable` when the database cannot be reached, is full or too busy.
 */
export interface Storage {
  /** Adds a plant unless its id is taken. */
  insertPlant(owner: Owner, plant: NewPlant, idempotencyKey: string | undefined): Promise<InsertOutcome>;

  /** Removes a plant; `false` when the owner has none with this id. */
  removePlant(owner: Owner, id: PlantId): Promise<boolean>;

  /** One consistent view of a stretch of the owner's plants. Never waits for a write. */
  selectPlants(owner: Owner, range: PlantRange): Promise<NewPlant[]>;

  /**
   * A stretch of the plants of all owners, for moving a database: at most `limit`, at least 1, that come after a plant
   * in the order of owner, by code point, and id. Whoever goes on after the last one until fewer than `limit` come, gets
   * each plant that is there all the time exactly once.
   */
  selectStored(after: PlantKey | undefined, limit: number): Promise<StoredPlant[]>;

  /**
   * The owner's revision: as long as it stays the same, a read returns the same plants. It changes no later than the
   * first read that sees a write, and before the write resolves. `undefined` where other processes write too.
   */
  revision(owner: Owner): number | undefined;

  /** Adds a token. The digest must be new. */
  insertToken(token: Token): Promise<void>;

  /** Adds a token if the database has none, not even a revoked one; `false` when it has. Atomic between processes. */
  insertFirstToken(token: Token): Promise<boolean>;

  /** The token with this digest, also when it is revoked or expired. */
  selectToken(digest: string): Promise<Token | undefined>;

  /** All tokens, oldest first. */
  selectTokens(): Promise<Token[]>;

  /** Marks a token as revoked at a time in epoch milliseconds; `false` when there is none or it was revoked before. */
  revokeToken(digest: string, revokedAt: number): Promise<boolean>;

  /** Notes when tokens, by digest, were last used, in epoch milliseconds. Digests that are gone are passed over. */
  noteTokenUses(uses: ReadonlyMap<string, number>): Promise<void>;

  /** Resolves when the database answers a query. */
  ping(): Promise<void>;

  /** How the database is doing, as far as that is known without waiting for it. */
  state(): Promise<StorageState>;

  /** Finishes the writes that were accepted, then lets go of the database. Nothing may be called afterwards. */
  close(): Promise<void>;
}
