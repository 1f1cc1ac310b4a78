import { scatteredIds } from "../load/ids.ts";
import { runWrk } from "../load/wrk.ts";
import { memoryMiB, peakMemoryMiB } from "../processes.ts";
import { roundTo } from "../rounds.ts";
import type { Measurement, Metric, RunSettings, Scenario } from "../scenario.ts";
import { PLANTS } from "../seed.ts";
import { startServers } from "../server-group.ts";
import type { Exchange } from "../servers/exchange.ts";
import { PLANT_STORE } from "../servers/plant-store.ts";
import type { Server } from "../servers/server.ts";

const MILLION = 1_000_000;

export const million: Scenario = {
  name: "million",
  description: "a list of 1 million plants; memory under load with 1 million plants",
  async run(settings) {
    await using listed = await startServers({ plants: MILLION });
    const metrics = await measureListMillion(listed.product, settings);
    await using loaded = await startServers({ plants: MILLION });
    return [...metrics, await measureMemory(loaded.product, settings)];
  },
};

async function measureListMillion(server: Server, { rounds }: RunSettings): Promise<Metric[]> {
  await runWrk(server, { exchanges: [server.exchanges.list as Exchange], connections: 8, seconds: 1 });
  const beforeMiB = memoryMiB(server.pid);
  const speeds: number[] = [];
  const growths: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedMs = performance.now();
    const peakMiB = await peakMemoryMiB(server.pid, () => readList(server));
    speeds.push(roundTo(MILLION / ((performance.now() - startedMs) / 1_000), 0));
    growths.push(roundTo(peakMiB - beforeMiB, 1));
  }
  const speed: Metric = {
    what: "list of 1 million plants without `limit`, 1 connection",
    unit: "plants/s",
    targets: [{ atLeast: 500_000 }],
    measurements: [toProductMeasurement(speeds)],
  };
  const growth: Metric = {
    what: "memory growth during that list",
    unit: "MiB",
    targets: [{ atMost: 32 }],
    measurements: [toProductMeasurement(growths)],
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
  if (bytes !== expected + separators)
    throw new Error(`unexpected size of the list of 1 million plants: ${bytes} bytes`);
}

async function measureMemory(server: Server, { rounds, seconds }: RunSettings): Promise<Metric> {
  const { list, listAfter, create } = server.exchanges as Required<Server["exchanges"]>;
  const exchanges = [list, ...Array<Exchange>(8).fill(listAfter), create];
  const ids = scatteredIds(MILLION, 0);
  const options = { exchanges, ids, connections: 64, seconds: rounds * seconds };
  const peakMiB = await peakMemoryMiB(server.pid, () => runWrk(server, options));
  return {
    what: "peak memory with 1 million plants, 90% lists after random ids, 10% creates, 64 connections",
    unit: "MiB",
    targets: [{ atMost: 96 }],
    measurements: [toProductMeasurement([roundTo(peakMiB, 1)])],
  };
}

const toProductMeasurement = (rounds: readonly number[]): Measurement => ({
  server: PLANT_STORE,
  role: "product",
  rounds,
  errors: 0,
});
