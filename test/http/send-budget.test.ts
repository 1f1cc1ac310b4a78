import { describe, expect, it } from "bun:test";
import { SendBudget } from "../../src/http/send-budget.ts";

const KIB = 1024;
const LIMIT = 1024 * KIB;
const unavailable = expect.objectContaining({ code: "unavailable" });

function newBudget(pending = 0) {
  return new SendBudget(LIMIT, () => pending);
}

/** Returns the error that `work` throws, or `undefined`. */
function errorOf(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("SendBudget.reserve", () => {
  it("throws when an owner would use more than remains free", () => {
    const budget = newBudget();
    const first = budget.reserve("ann", LIMIT / 2);
    expect(errorOf(() => budget.reserve("ann", 1))).toEqual(unavailable);
    budget.reserve("bob", LIMIT / 4);
    for (const owner of ["ann", "bob"]) expect(errorOf(() => budget.reserve(owner, 1))).toEqual(unavailable);
    budget.reserve("eve", LIMIT / 8);
    expect(budget.bytes).toBe((LIMIT * 7) / 8);
    first.resize(0);
    expect(errorOf(() => budget.reserve("bob", 1))).toBeUndefined();
  });

  it("reserves at least 16 KiB", () => {
    const budget = newBudget();
    for (let n = 0; n < 32; n++) budget.reserve("ann", 1);
    expect(budget.bytes).toBe(LIMIT / 2);
    expect(errorOf(() => budget.reserve("ann", 1))).toEqual(unavailable);
  });

  it("returns a reservation that grows up to the limit and is unchanged when it cannot grow", () => {
    const budget = newBudget();
    const reservation = budget.reserve("ann", 100 * KIB);
    reservation.grow(412 * KIB);
    expect(errorOf(() => reservation.grow(1))).toEqual(unavailable);
    expect(budget.bytes).toBe(512 * KIB);
  });

  it("returns a reservation that releases its bytes once when it is resized to 0, even if it is resized again", () => {
    const budget = newBudget();
    const [one, other] = [budget.reserve("ann", 40 * KIB), budget.reserve("ann", 50 * KIB)];
    one.resize(20 * KIB);
    expect(budget.bytes).toBe(70 * KIB);
    one.resize(0);
    one.resize(0);
    one.resize(30 * KIB);
    expect(budget.bytes).toBe(50 * KIB);
    other.resize(0);
    expect(budget.bytes).toBe(0);
  });
});

describe("SendBudget.isSmall", () => {
  it.each([
    [0, 64 * KIB, true],
    [0, 64 * KIB + 1, false],
    [8, 64 * KIB, true],
    [9, 64 * KIB, false],
    [512, KIB, true],
    [513, KIB, false],
  ])("with %d pending requests and %d bytes is %p", (pending, bytes, expected) => {
    expect(newBudget(pending).isSmall(bytes)).toBe(expected);
  });
});
