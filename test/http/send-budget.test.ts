import { describe, expect, it } from "bun:test";
import { SendBudget } from "../../src/http/send-budget.ts";

const KIB = 1024;
const LIMIT = 1024 * KIB;
const unavailable = expect.objectContaining({ code: "unavailable" });

function newBudget(pending = 0) {
  return new SendBudget(LIMIT, () => pending);
}

/** The error code that `work` throws, or `undefined`. */
function codeOf(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("reserving bytes", () => {
  it("fails when an owner has used as much as is left for others", () => {
    const budget = newBudget();
    const first = budget.reserve("ann", LIMIT / 2);
    expect(codeOf(() => budget.reserve("ann", 1))).toEqual(unavailable);
    budget.reserve("bob", LIMIT / 4);
    for (const owner of ["ann", "bob"]) expect(codeOf(() => budget.reserve(owner, 1))).toEqual(unavailable);
    budget.reserve("eve", LIMIT / 8);
    expect(budget.bytes).toBe((LIMIT * 7) / 8);
    first.release();
    expect(codeOf(() => budget.reserve("bob", 1))).toBeUndefined();
  });

  it("counts at least 16 KiB for each response", () => {
    const budget = newBudget();
    for (let n = 0; n < 32; n++) budget.reserve("ann", 1);
    expect(budget.bytes).toBe(LIMIT / 2);
    expect(codeOf(() => budget.reserve("ann", 1))).toEqual(unavailable);
  });

  it("grows up to the limit and stays as it was beyond it", () => {
    const budget = newBudget();
    const reservation = budget.reserve("ann", 100 * KIB);
    reservation.grow(412 * KIB);
    expect(codeOf(() => reservation.grow(1))).toEqual(unavailable);
    expect(budget.bytes).toBe(512 * KIB);
  });

  it("returns every byte once, however often it is released or resized afterwards", () => {
    const budget = newBudget();
    const [one, other] = [budget.reserve("ann", 40 * KIB), budget.reserve("ann", 50 * KIB)];
    one.resize(20 * KIB);
    expect(budget.bytes).toBe(70 * KIB);
    one.release();
    one.release();
    one.resize(30 * KIB);
    expect(budget.bytes).toBe(50 * KIB);
    other.release();
    expect(budget.bytes).toBe(0);
  });
});

describe("a body without a reservation", () => {
  it.each([
    [0, 64 * KIB, true],
    [0, 64 * KIB + 1, false],
    [8, 64 * KIB, true],
    [9, 64 * KIB, false],
    [512, KIB, true],
    [513, KIB, false],
  ])("with %d pending requests and %d bytes: %p", (pending, bytes, expected) => {
    expect(newBudget(pending).isSmall(bytes)).toBe(expected);
  });
});
