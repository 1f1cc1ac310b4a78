import { seededIds } from "../load/ids.ts";
import { measureThroughput } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import { PROBE_PLANTS } from "../servers/exchange.ts";
import { NGINX } from "../servers/limits.ts";

/** Upper bound for the deletes per second of any measured server. */
const MAX_PER_SECOND = 100_000;

export const deletes: Scenario = {
  name: "delete",
  description: "durable deletes of existing plants",
  async run(settings) {
    const perRound = MAX_PER_SECOND * settings.seconds;
    const plants = PROBE_PLANTS + perRound * (settings.rounds + 1);
    await using group = await startServers({
      against: settings.against,
      plants,
      limitsFor: ["delete"],
      withPeers: settings.withPeers,
    });
    const ids = (round: number) => seededIds(PROBE_PLANTS + round * perRound, perRound);
    const what = "durable delete, 64 connections";
    const targets = [{ atLeast: 0.36, of: NGINX }];
    return [await measureThroughput(group, { settings, what, targets, requests: ["delete"], connections: 64, ids })];
  },
};
