import type { Database } from "bun:sqlite";
import type { Owner } from "../../domain/plant.ts";
import type { Write } from "./writes.ts";

/** Maximum number of owners with their own version. */
const MAX_OWNERS = 10_000;

/**
 * Versions of each owner's plants, as one reading connection sees them, for caches. A commit is visible to that connection
 * before this thread receives its acknowledgement. So while a batch is in flight, every lookup of one of its owners checks
 * whether the connection sees a new commit.
 */
export class Versions {
  readonly #byOwner = new Map<Owner, number>();
  #latest = 0;
  /** The version of every owner that is not in the map. */
  #defaultVersion = 0;
  /** The owners of the batch in flight; the writer has at most one in flight. */
  readonly #inFlight = new Set<Owner>();
  readonly #selectDataVersion;
  #dataVersion = Number.NaN;

  /** `db` is the connection whose reads are cached. */
  constructor(db: Database) {
    this.#selectDataVersion = db.prepare<{ data_version: bigint }, []>("PRAGMA data_version");
  }

  /** Returns the version of the owner's plants, which changes as soon as the connection sees another state of them. */
  of(owner: Owner): number {
    if (this.#inFlight.has(owner) && this.#seesNewCommit()) this.#renew();
    return this.#byOwner.get(owner) ?? this.#defaultVersion;
  }

  /** Call before a batch is sent. */
  begin(batch: readonly Write[]): void {
    for (const write of batch) if ("plant" in write) this.#inFlight.add(write.plant.owner);
  }

  /** Call when the batch can no longer commit, before its writes are settled. */
  end(): void {
    if (this.#seesNewCommit()) this.#renew();
    this.#inFlight.clear();
  }

  #renew(): void {
    if (this.#byOwner.size >= MAX_OWNERS) {
      this.#byOwner.clear();
      this.#defaultVersion = ++this.#latest;
    }
    for (const owner of this.#inFlight) this.#byOwner.set(owner, ++this.#latest);
  }

  /** Returns whether the connection sees a commit that it did not see at the last call (https://sqlite.org/pragma.html). */
  #seesNewCommit(): boolean {
    const before = this.#dataVersion;
    try {
      this.#dataVersion = Number(this.#selectDataVersion.get()?.data_version);
    } catch {
      // NaN differs from every value, so the next list reads the database, which reports the error.
      this.#dataVersion = Number.NaN;
    }
    return this.#dataVersion !== before;
  }
}
