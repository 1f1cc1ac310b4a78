import type { Owner } from "../../domain/plant.ts";
import type { Write } from "./writes.ts";

/** Owners remembered at a time. */
const MAX_OWNERS = 10_000;

/** Tells whether an owner's plants may have changed: equal revisions mean equal plants. */
export class Revisions {
  readonly #byOwner = new Map<Owner, number>();
  #latest = 0;
  /** The revision of every owner that is not remembered. */
  #floor = 0;

  of(owner: Owner): number {
    return this.#byOwner.get(owner) ?? this.#floor;
  }

  /** To be called after a write, before it is answered. */
  note([name, owner]: Write): void {
    if (name !== "insertPlant" && name !== "removePlant") return;
    if (this.#byOwner.size >= MAX_OWNERS) {
      this.#byOwner.clear();
      this.#floor = ++this.#latest;
    }
    this.#byOwner.set(owner, ++this.#latest);
  }
}
