import { measureThroughput } from "../rounds.ts";
import type { Metric, Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import { NGINX } from "../servers/limits.ts";

const TARGETS = [{ atLeast: 0.6, of: NGINX }];

export const list: Scenario = {
  name: "list",
  description: "lists of 20 without concurrent writes",
  async run(settings) {
    const metrics: Metric[] = [];
    {
      const { withPeers, against } = settings;
      await using group = await startServers({
        against,
        plants: 1_000,
        limitsFor: ["list"],
        withBareBun: true,
        withPeers,
      });
      const what = "list of 20, 64 connections";
      const targets = [...TARGETS, { atLeast: 3, of: "PocketBase" }];
      metrics.push(await measureThroughput(group, { settings, what, targets, requests: ["list"], connections: 64 }));
    }
    if (settings.isQuick) return metrics;
    await using group = await startServers({
      against: settings.against,
      plants: 1_000,
      limitsFor: ["list"],
      withBareBun: true,
    });
    for (const connections of [1, 512]) {
      const what = `list of 20, ${connections} ${connections === 1 ? "connection" : "connections"}`;
      metrics.push(
        await measureThroughput(group, { settings, what, targets: TARGETS, requests: ["list"], connections }),
      );
    }
    return metrics;
  },
};
