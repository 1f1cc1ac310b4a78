import { ascendingIds } from "../load/ids.ts";
import { measureThroughput } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import { NGINX } from "../servers/limits.ts";

export const bothCores: Scenario = {
  name: "both-cores",
  description: "durable creates with server and load on both cores",
  async run(settings) {
    const cores = "0,1";
    await using group = await startServers({ against: settings.against, plants: 0, limitsFor: ["create"], cores });
    const what = "durable create, 256 connections, server and load on both cores";
    const targets = [{ atLeast: 0.45, of: NGINX }];
    const ids = ascendingIds;
    return [
      await measureThroughput(group, { settings, what, targets, requests: ["create"], connections: 256, ids, cores }),
    ];
  },
};
