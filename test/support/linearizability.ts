/** The interval of an operation on the clock of its history. `returned` is infinite when the outcome is unknown. */
interface Interval {
  readonly invoked: number;
  readonly returned: number;
}

/** A create or delete of one key. `rejected` means 400 (duplicate id) for a create and 404 for a delete. */
interface WriteOperation extends Interval {
  readonly kind: "create" | "delete";
  /** 0 to 30. */
  readonly key: number;
  readonly outcome: "done" | "rejected" | "unknown";
}

/** A list. Bit n of `covered` is set if it shows the state of key n, and bit n of `present` if it contains the plant. */
interface ListOperation extends Interval {
  readonly kind: "list";
  readonly covered: number;
  readonly present: number;
}

/** One request of a history and its outcome. */
export type Operation = WriteOperation | ListOperation;

/**
 * Returns whether some order of all operations explains every outcome: each operation takes effect at one instant between
 * its invocation and its return, on all keys at once. A write of unknown outcome takes effect at any later time, or never.
 *
 * This includes the order of lists: of two lists of which one returned before the other was invoked, the later one never
 * shows an older state. The search is Wing and Gong's with Lowe's cache of visited configurations
 * (https://www.cs.ox.ac.uk/people/gavin.lowe/LinearizabiltyTesting/paper.pdf).
 */
export function isLinearizable(history: readonly Operation[]): boolean {
  const failed = new Set<string>();

  function search(rest: readonly Operation[], state: number): boolean {
    const firstReturn = rest.reduce((first, { returned }) => Math.min(first, returned), Number.POSITIVE_INFINITY);
    if (firstReturn === Number.POSITIVE_INFINITY) return true;
    const configuration = `${state}:${rest.map(({ invoked }) => invoked)}`;
    if (failed.has(configuration)) return false;
    failed.add(configuration);
    const next = rest.filter(({ invoked }) => invoked < firstReturn);
    const without = (operation: Operation) => rest.filter((each) => each !== operation);
    // An operation that explains its outcome and changes nothing fits here if it fits anywhere.
    const neutral = next.find((each) => each.returned < Number.POSITIVE_INFINITY && apply(each, state) === state);
    if (neutral !== undefined) return search(without(neutral), state);
    return next.some((each) => {
      const after = apply(each, state);
      return after !== undefined && after !== state && search(without(each), after);
    });
  }

  return search(history, 0);
}

/** Returns the state after an operation, one bit per key with a plant; `undefined` when its outcome contradicts `state`. */
export function apply(operation: Operation, state: number): number | undefined {
  if (operation.kind === "list") return (state & operation.covered) === operation.present ? state : undefined;
  const bit = 1 << operation.key;
  const changed = operation.kind === "create" ? state | bit : state & ~bit;
  if (operation.outcome === "unknown") return changed;
  const isDone = operation.outcome === "done";
  return isDone === (changed !== state) ? changed : undefined;
}
