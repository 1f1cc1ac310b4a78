import { lineUp } from "../line-up.ts";
import { throughput } from "../rounds.ts";
import type { Figure, Scenario } from "../scenario.ts";

const PLANTS = 10_000;
const CONNECTIONS = 4;

export const listAll: Scenario = {
  name: "list-all",
  about: "lists of all of 10,000 plants",
  isLeftOutWhenQuick: true,
  async run(depth) {
    await using running = await lineUp({ plants: PLANTS, constants: ["listAll"] });
    const what = `list of all of 10,000 plants, ${CONNECTIONS} connections`;
    const lists = await throughput(running, { depth, what, targets: [], asks: ["listAll"], connections: CONNECTIONS });
    return [inPlants(lists)];
  },
};

/** Counted in plants instead of lists. */
const inPlants = (figure: Figure): Figure => ({
  ...figure,
  unit: "plants/s",
  measurements: figure.measurements.map((each) => ({ ...each, rounds: each.rounds.map((lists) => lists * PLANTS) })),
});
