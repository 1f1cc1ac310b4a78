import { lineUp } from "../line-up.ts";
import { seededIds } from "../load/ids.ts";
import { throughput } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { PROBED } from "../servers/exchange.ts";
import { NGINX } from "../servers/limits.ts";

/** No server here deletes more a second. */
const PER_SECOND = 100_000;

export const deletes: Scenario = {
  name: "delete",
  about: "durable deletes of plants that exist",
  async run(depth) {
    const perRound = PER_SECOND * depth.seconds;
    const plants = PROBED + perRound * (depth.rounds + 1);
    await using running = await lineUp({ plants, constants: ["delete"], peersOf: depth });
    const ids = (round: number) => seededIds(PROBED + round * perRound, perRound);
    const what = "durable delete, 64 connections";
    const targets = [{ atLeast: 0.36, of: NGINX }];
    return [await throughput(running, { depth, what, targets, asks: ["delete"], connections: 64, ids })];
  },
};
