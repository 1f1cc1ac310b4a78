import { lineUp } from "../line-up.ts";
import { throughput } from "../rounds.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { NGINX } from "../servers/limits.ts";

const TARGETS = [{ atLeast: 0.6, of: NGINX }];

export const list: Scenario = {
  name: "list",
  about: "lists of 20, not being written",
  async run(depth) {
    const figures: Figure[] = [];
    {
      await using running = await lineUp({ plants: 1_000, constants: ["list"], withBareBun: true, peersOf: depth });
      const what = "list of 20, 64 connections";
      const targets = [...TARGETS, { atLeast: 3, of: "PocketBase" }];
      figures.push(await throughput(running, { depth, what, targets, asks: ["list"], connections: 64 }));
    }
    if (depth.isQuick) return figures;
    await using running = await lineUp({ plants: 1_000, constants: ["list"], withBareBun: true });
    for (const connections of [1, 512]) {
      const what = `list of 20, ${connections} ${connections === 1 ? "connection" : "connections"}`;
      figures.push(await throughput(running, { depth, what, targets: TARGETS, asks: ["list"], connections }));
    }
    return figures;
  },
};
