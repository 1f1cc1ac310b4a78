import { AppError } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";

/** The least that a body counts for: the size of its stream in memory. It bounds the number of streams. */
const MIN_RESERVATION_BYTES = 16 * 1024;
/** A larger body never leaves without a reservation. */
const MAX_PLAIN_BYTES = 64 * 1024;

/** Bytes of one response that wait in this process until its client reads them. */
export interface Reservation {
  /**
   * Adds bytes.
   * @throws AppError `unavailable` when the budget is used up; the reservation stays as it was
   */
  grow(bytes: number): void;
  /** Sets the number of bytes, for a body that streams in chunks of bounded size. */
  resize(bytes: number): void;
  /** Gives all of it back. May be called twice. */
  release(): void;
}

/**
 * The budget of this process for response bodies that clients have not read yet. When it is used up, new large responses
 * are refused with 503, and small ones go on. An owner can use no more than it leaves free: alone half of the budget, as one
 * of two a third, so that there is always room for another.
 */
export class SendBudget {
  readonly #limitBytes: number;
  readonly #countPending: () => number;
  readonly #bytesByOwner = new Map<Owner, number>();
  #bytes = 0;

  /** `countPending` returns the number of requests whose response has not been sent to its end. */
  constructor(limitBytes: number, countPending: () => number) {
    this.#limitBytes = limitBytes;
    this.#countPending = countPending;
  }

  /** Bytes that are reserved now. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Whether a body may leave without a reservation: as if every pending request had a body of this size, all of them
   * must fit into half of the budget.
   */
  isSmall(bytes: number): boolean {
    return bytes <= MAX_PLAIN_BYTES && bytes * this.#countPending() <= this.#limitBytes / 2;
  }

  /**
   * Reserves bytes for a response to `owner`.
   * @throws AppError `unavailable` when the owner's share of the budget is used up
   */
  reserve(owner: Owner, bytes: number): Reservation {
    let [held, isReleased] = [0, false];
    const add = (change: number) => {
      held += change;
      this.#add(owner, change);
    };
    const grow = (more: number) => {
      this.#requireRoom(owner, more);
      add(more);
    };
    grow(Math.max(bytes, MIN_RESERVATION_BYTES));
    return {
      grow,
      resize(size) {
        if (!isReleased) add(Math.max(size, MIN_RESERVATION_BYTES) - held);
      },
      release() {
        isReleased = true;
        add(-held);
      },
    };
  }

  #requireRoom(owner: Owner, bytes: number): void {
    const ownBytes = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (ownBytes <= this.#limitBytes - this.#bytes) return;
    throw new AppError("unavailable", "too many large responses are waiting for their clients to read: try again");
  }

  #add(owner: Owner, bytes: number): void {
    this.#bytes += bytes;
    const ownBytes = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (ownBytes === 0) this.#bytesByOwner.delete(owner);
    else this.#bytesByOwner.set(owner, ownBytes);
  }
}
