import { ascendingIds } from "../load/ids.ts";
import { measureThroughput } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";

export const mixed: Scenario = {
  name: "mixed",
  description: "90% lists of 20, 10% durable creates",
  async run(settings) {
    const requests = [...Array(9).fill("list"), "create"] as const;
    await using group = await startServers({
      against: settings.against,
      plants: 1_000,
      limitsFor: ["list", "create"],
      withPeers: settings.withPeers,
    });
    const what = "90% list of 20, 10% durable create, 64 connections";
    return [
      await measureThroughput(group, { settings, what, targets: [], requests, connections: 64, ids: ascendingIds }),
    ];
  },
};
