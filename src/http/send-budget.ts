import { AppError } from "../domain/error.ts";
import type { Owner } from "../domain/plant.ts";

/** Minimum reservation: the size of a stream object in memory. It bounds the number of streams. */
const MIN_RESERVATION_BYTES = 16 * 1024;
/** Larger bodies always need a reservation. */
const MAX_UNRESERVED_BYTES = 64 * 1024;

/** Reserved memory for the unread bytes of one response. */
export interface Reservation {
  /**
   * Adds bytes to the reservation.
   * @throws AppError `unavailable` when the budget is exhausted; the reservation is unchanged
   */
  grow(bytes: number): void;
  /**
   * Sets the size of the reservation without a check, for a body that streams in chunks of bounded size. 0 releases the
   * reservation; further calls have no effect.
   */
  resize(bytes: number): void;
}

/**
 * The memory budget of this process for response bodies that clients have not read yet. When it is exhausted, requests for
 * large responses get a 503, and small ones are still sent. An owner can use at most as much as remains free: half of the
 * budget if it is the only one, a third if there are two. So some budget always remains for another owner.
 */
export class SendBudget {
  readonly #limitBytes: number;
  readonly #countPending: () => number;
  readonly #bytesByOwner = new Map<Owner, number>();
  #bytes = 0;

  /** `countPending` returns the number of requests whose response is not sent completely. */
  constructor(limitBytes: number, countPending: () => number) {
    this.#limitBytes = limitBytes;
    this.#countPending = countPending;
  }

  /** Total bytes reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Whether a body may be sent without a reservation: half of the budget must suffice for a body of this size for every
   * pending request.
   */
  isSmall(bytes: number): boolean {
    return bytes <= MAX_UNRESERVED_BYTES && bytes * this.#countPending() <= this.#limitBytes / 2;
  }

  /**
   * Reserves bytes for a response to `owner`.
   * @throws AppError `unavailable` when the owner's share of the budget is exhausted
   */
  reserve(owner: Owner, bytes: number): Reservation {
    let held = 0;
    const set = (size: number) => {
      this.#add(owner, size - held);
      held = size;
    };
    const grow = (more: number) => {
      this.#requireRoom(owner, more);
      set(held + more);
    };
    grow(Math.max(bytes, MIN_RESERVATION_BYTES));
    return {
      grow,
      resize(size) {
        if (held > 0) set(size === 0 ? 0 : Math.max(size, MIN_RESERVATION_BYTES));
      },
    };
  }

  #requireRoom(owner: Owner, bytes: number): void {
    const ownBytes = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (ownBytes <= this.#limitBytes - this.#bytes) return;
    throw new AppError("unavailable", "too many unread large responses: read or close them, then try again");
  }

  #add(owner: Owner, bytes: number): void {
    this.#bytes += bytes;
    const ownBytes = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (ownBytes === 0) this.#bytesByOwner.delete(owner);
    else this.#bytesByOwner.set(owner, ownBytes);
  }
}
