import { lineUp } from "../line-up.ts";
import { ascendingIds } from "../load/ids.ts";
import { throughput } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";

export const mixed: Scenario = {
  name: "mixed",
  about: "nine lists of 20 for each durable create",
  async run(depth) {
    const asks = [...Array(9).fill("list"), "create"] as const;
    await using running = await lineUp({ plants: 1_000, constants: ["list", "create"], peersOf: depth });
    const what = "90% list of 20, 10% durable create, 64 connections";
    return [await throughput(running, { depth, what, targets: [], asks, connections: 64, ids: ascendingIds })];
  },
};
