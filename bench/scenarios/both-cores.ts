import { lineUp } from "../line-up.ts";
import { ascendingIds } from "../load/ids.ts";
import { throughput } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { NGINX } from "../servers/limits.ts";

export const bothCores: Scenario = {
  name: "both-cores",
  about: "durable creates with server and load free to use both cores",
  async run(depth) {
    const cores = "0,1";
    await using running = await lineUp({ plants: 0, constants: ["create"], cores });
    const what = "durable create, 256 connections, server and load on both cores";
    const targets = [{ atLeast: 0.45, of: NGINX }];
    const ids = ascendingIds;
    return [await throughput(running, { depth, what, targets, asks: ["create"], connections: 256, ids, cores })];
  },
};
