import { roundTo } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { PLANT_STORE, plantStore } from "../servers/plant-store.ts";

const STARTS_PER_ROUND = 2;

export const starts: Scenario = {
  name: "start",
  description: "time from process start to the first list, with 1 million plants",
  async run({ rounds }) {
    const times: number[] = [];
    for (let start = 0; start < rounds * STARTS_PER_ROUND; start++) {
      const server = await plantStore.start({ plants: 1_000_000 });
      times.push(roundTo(server.startMs, 1));
      await server.stop();
    }
    return [
      {
        what: "time from process start to the first response, 1 million plants",
        unit: "ms",
        targets: [{ atMost: 300 }],
        measurements: [{ server: PLANT_STORE, role: "product", rounds: times, errors: 0 }],
      },
    ];
  },
};
