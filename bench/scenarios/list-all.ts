import { measureThroughput } from "../rounds.ts";
import type { Metric, Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";

const PLANTS = 10_000;
const CONNECTIONS = 4;

export const listAll: Scenario = {
  name: "list-all",
  description: "lists of all 10,000 plants",
  isSkippedWhenQuick: true,
  async run(settings) {
    await using group = await startServers({ plants: PLANTS, limitsFor: ["listAll"] });
    const what = `list of all 10,000 plants, ${CONNECTIONS} connections`;
    const lists = await measureThroughput(group, {
      settings,
      what,
      targets: [],
      requests: ["listAll"],
      connections: CONNECTIONS,
    });
    return [toPlantsPerSecond(lists)];
  },
};

/** Converts lists per second to plants per second. */
const toPlantsPerSecond = (metric: Metric): Metric => ({
  ...metric,
  unit: "plants/s",
  measurements: metric.measurements.map((each) => ({ ...each, rounds: each.rounds.map((lists) => lists * PLANTS) })),
});
