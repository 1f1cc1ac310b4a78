import { lineUp } from "../line-up.ts";
import { scatteredIds } from "../load/ids.ts";
import { load } from "../load/wrk.ts";
import { memoryMiB, peakMemoryMiB } from "../processes.ts";
import { rounded } from "../rounds.ts";
import type { Depth, Figure, Measurement, Scenario } from "../scenario.ts";
import { PLANTS } from "../seed.ts";
import type { Exchange } from "../servers/exchange.ts";
import { PLANT_STORE } from "../servers/plant-store.ts";
import type { Server } from "../servers/server.ts";

const MILLION = 1_000_000;

export const million: Scenario = {
  name: "million",
  about: "a list of a million plants; memory under load with a million plants",
  async run(depth) {
    await using listed = await lineUp({ plants: MILLION });
    const figures = await listMillion(listed.product, depth);
    await using loaded = await lineUp({ plants: MILLION });
    return [...figures, await memoryUnderLoad(loaded.product, depth)];
  },
};

async function listMillion(server: Server, { rounds }: Depth): Promise<Figure[]> {
  await load(server, { exchanges: [server.exchanges.list as Exchange], connections: 8, seconds: 1 });
  const before = memoryMiB(server.pid);
  const speeds: number[] = [];
  const growths: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    const peak = await peakMemoryMiB(server.pid, () => readList(server));
    speeds.push(rounded(MILLION / ((performance.now() - started) / 1_000), 0));
    growths.push(rounded(peak - before, 1));
  }
  const speed: Figure = {
    what: "list of a million plants without limit, 1 connection",
    unit: "plants/s",
    targets: [{ atLeast: 500_000 }],
    measurements: [ofProduct(speeds)],
  };
  const growth: Figure = {
    what: "growth of the server's memory during it",
    unit: "MiB",
    targets: [{ atMost: 32 }],
    measurements: [ofProduct(growths)],
  };
  return [speed, growth];
}

/** Reads the whole list and checks its length. */
async function readList(server: Server): Promise<void> {
  const { path, headers } = server.exchanges.listAll as Exchange;
  const response = await fetch(server.url + path, { headers });
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.length;
  const separators = MILLION + 1;
  const expected = PLANTS.reduce((sum, plant) => sum + JSON.stringify(plant).length, 0) * (MILLION / PLANTS.length);
  if (bytes !== expected + separators) throw new Error(`the list of a million plants has ${bytes} bytes`);
}

async function memoryUnderLoad(server: Server, { rounds, seconds }: Depth): Promise<Figure> {
  const { list, listAfter, create } = server.exchanges as Required<Server["exchanges"]>;
  const exchanges = [list, ...Array<Exchange>(8).fill(listAfter), create];
  const ids = scatteredIds(MILLION, 0);
  const options = { exchanges, ids, connections: 64, seconds: rounds * seconds };
  const peak = await peakMemoryMiB(server.pid, () => load(server, options));
  return {
    what: "memory with 1 million plants, 90% lists at random places and 10% creates, 64 connections",
    unit: "MiB",
    targets: [{ atMost: 96 }],
    measurements: [ofProduct([rounded(peak, 1)])],
  };
}

const ofProduct = (rounds: readonly number[]): Measurement => ({
  server: PLANT_STORE,
  role: "product",
  rounds,
  errors: 0,
});
