import { describe, expect, it } from "bun:test";
import fc from "fast-check";
import { apply, isLinearizable, type Operation } from "./linearizability.ts";

type Interval = readonly [invoked: number, returned: number];
type Outcome = "done" | "rejected" | "unknown";

const write =
  (kind: "create" | "delete") =>
  ([invoked, returned]: Interval, key: number, outcome: Outcome = "done"): Operation => ({
    kind,
    key,
    outcome,
    invoked,
    returned: outcome === "unknown" ? Number.POSITIVE_INFINITY : returned,
  });
const create = write("create");
const remove = write("delete");
/** A list of the plants at these keys; `covered` has the keys whose state it shows. */
const list = ([invoked, returned]: Interval, keys: readonly number[], covered = [0, 1, 2]): Operation => ({
  kind: "list",
  covered: bitsOf(covered),
  present: bitsOf(keys),
  invoked,
  returned,
});
const bitsOf = (keys: readonly number[]) => keys.reduce((bits, key) => bits | (1 << key), 0);

describe("isLinearizable", () => {
  const illegal: Record<string, Operation[]> = {
    "a list that misses an acknowledged create": [create([0, 1], 0), list([2, 3], [])],
    "a list that shows a plant after its acknowledged delete": [
      create([0, 1], 0),
      remove([2, 3], 0),
      list([4, 5], [0]),
    ],
    "a list that shows a plant before its create was sent": [list([0, 1], [0]), create([2, 3], 0)],
    "a list that shows a plant before a create of unknown outcome was sent": [
      list([0, 1], [0]),
      create([2, 3], 0, "unknown"),
    ],
    "a later list with an older state, while the create is in flight": [
      create([0, 9], 0),
      list([1, 2], [0]),
      list([3, 4], []),
    ],
    "a later list with an older state, while the delete is in flight": [
      create([0, 1], 0),
      remove([2, 9], 0),
      list([3, 4], []),
      list([5, 6], [0]),
    ],
    "a later list that is older, after a create of unknown outcome": [
      create([0, 1], 0, "unknown"),
      list([2, 3], [0]),
      list([4, 5], []),
    ],
    "lists that see two concurrent creates in opposite orders": [
      create([0, 9], 0),
      create([1, 9.5], 1),
      list([2, 5], [0]),
      list([3, 6], [1]),
    ],
    "a list whose keys come from two points in time": [create([0, 1], 0), create([2, 9], 1), list([3, 4], [1])],
    "a page that misses a plant below its last one": [create([0, 1], 0), create([2, 3], 1), list([4, 5], [1], [0, 1])],
    "two successful creates of one id": [create([0, 3], 0), create([1, 2], 0)],
    "two successful deletes of one plant": [create([0, 1], 0), remove([2, 5], 0), remove([3, 4], 0)],
    "a successful delete of a plant that was never created": [remove([0, 1], 0)],
    "a rejected create of an id that was never used": [create([0, 1], 0, "rejected")],
    "a rejected create after the acknowledged delete": [
      create([0, 1], 0),
      remove([2, 3], 0),
      create([4, 5], 0, "rejected"),
    ],
    "a rejected delete of an existing plant": [create([0, 1], 0), remove([2, 3], 0, "rejected")],
    "a successful delete after a list has shown the effect of a delete of unknown outcome": [
      create([0, 1], 0),
      remove([2, 3], 0, "unknown"),
      list([4, 5], []),
      remove([6, 7], 0),
    ],
  };
  it.each(Object.entries(illegal))("rejects %s", (_, history) => {
    expect(isLinearizable(history)).toBe(false);
  });

  const legal: Record<string, Operation[]> = {
    "an empty history": [],
    "lists that overlap a create and differ": [create([0, 9], 0), list([1, 8], [0]), list([2, 7], [])],
    "a list that shows a create before it is acknowledged": [
      create([0, 9], 0),
      list([1, 2], []),
      list([3, 4], [0]),
      list([5, 6], [0]),
    ],
    "a create and a delete that overlap, in either order": [
      create([0, 5], 0),
      remove([1, 4], 0),
      create([2, 3], 1),
      remove([2.5, 6], 1, "rejected"),
      list([7, 8], [1]),
    ],
    "a rejected create concurrent with one that succeeds": [create([0, 3], 0), create([1, 2], 0, "rejected")],
    "a create of unknown outcome that never happens": [
      create([0, 1], 0, "unknown"),
      list([2, 3], []),
      list([8, 9], []),
    ],
    "a create of unknown outcome that takes effect late": [
      create([0, 1], 0, "unknown"),
      list([2, 3], []),
      list([4, 5], [0]),
      create([6, 7], 0, "rejected"),
    ],
    "a create of unknown outcome after a delete that came later": [
      create([0, 1], 0),
      create([2, 3], 0, "unknown"),
      remove([4, 5], 0),
      list([6, 7], [0]),
    ],
    "a delete of unknown outcome that takes effect late": [
      create([0, 1], 0),
      remove([2, 3], 0, "unknown"),
      list([4, 5], [0]),
      list([6, 7], []),
      remove([8, 9], 0, "rejected"),
    ],
    "a page that does not cover the plants after its last one": [
      create([0, 1], 0),
      create([2, 3], 1),
      list([4, 5], [0], [0]),
    ],
  };
  it.each(Object.entries(legal))("accepts %s", (_, history) => {
    expect(isLinearizable(history)).toBe(true);
  });

  const keys = fc.uniqueArray(fc.constantFrom(0, 1), { maxLength: 2 });
  const interval = fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 9 })).map(([at, span]): Interval => [at, at + span]);
  const operation = fc.oneof(
    fc
      .record({
        make: fc.constantFrom(create, remove),
        at: interval,
        key: fc.constantFrom(0, 1),
        outcome: fc.constantFrom<Outcome>("done", "rejected", "unknown"),
      })
      .map(({ make, at, key, outcome }) => make(at, key, outcome)),
    fc.record({ at: interval, shown: keys }).map(({ at, shown }) => list(at, shown, [0, 1])),
  );

  /** Returns whether some order of these operations, tried one after the other, explains every outcome. */
  function isExplained(rest: readonly Operation[], state = 0): boolean {
    if (rest.every(({ returned }) => returned === Number.POSITIVE_INFINITY)) return true;
    return rest.some((each) => {
      const isNext = rest.every(({ returned }) => each.invoked < returned);
      const after = apply(each, state);
      const others = rest.filter((other) => other !== each);
      return isNext && after !== undefined && isExplained(others, after);
    });
  }

  it("agrees with an exhaustive search on every small history", () => {
    const distinct = fc
      .array(operation, { maxLength: 6 })
      .map((history) => history.map((each, index) => ({ ...each, invoked: each.invoked + index / 100 })));
    fc.assert(
      fc.property(distinct, (history) => {
        expect(isLinearizable(history)).toBe(isExplained(history));
      }),
      { numRuns: 5_000 },
    );
  });
});
