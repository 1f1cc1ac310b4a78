import { ascendingIds, type Ids, scatteredIds } from "../load/ids.ts";
import { type LoadResult, runWrk } from "../load/wrk.ts";
import { probeAll, toMeasurement } from "../rounds.ts";
import type { Measurement, Metric, RunSettings, Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import type { Exchange } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;

/** The loads for each database, in this order. Lists come first because they do not change it. */
const LOADS = [
  { request: "listAfter", name: "list of 20 after a random id", ids: (plants: number) => scatteredIds(plants, 1) },
  { request: "create", name: "durable create, scattered ids", ids: (plants: number) => scatteredIds(plants, 2) },
  { request: "create", name: "durable create, ascending ids", ids: () => ascendingIds(1) },
] as const;

export const databaseSize: Scenario = {
  name: "database-size",
  description: "creates and lists with 10 thousand to 10 million stored plants",
  isSkippedWhenQuick: true,
  async run(settings) {
    const sizes = settings.isQuick ? [10_000, 100_000, 1_000_000] : [10_000, 100_000, 1_000_000, 10_000_000];
    const results = new Map(sizes.map((size) => [size, LOADS.map((): LoadResult[] => [])]));
    for (let round = 0; round < settings.rounds; round++) {
      for (const size of sizes) {
        const measured = await measureDatabase(size, settings);
        for (const [index, result] of measured.entries()) results.get(size)?.[index]?.push(result);
      }
    }
    return LOADS.map(({ name }, index) => toMetric(name, sizes, (size) => results.get(size)?.[index] ?? []));
  },
};

/** Measures a new copy of the seeded database, because the creates of a round multiply the size of a small one. */
async function measureDatabase(plants: number, { seconds }: RunSettings): Promise<LoadResult[]> {
  await using group = await startServers({ plants });
  const { product } = group;
  await probeAll(product, ["listAfter", "create"]);
  await runLoad(product, "listAfter", scatteredIds(plants, 0), WARM_UP_SECONDS);
  await runLoad(product, "create", scatteredIds(plants, 0), WARM_UP_SECONDS);
  const results: LoadResult[] = [];
  for (const { request, ids } of LOADS) results.push(await runLoad(product, request, ids(plants), seconds));
  return results;
}

const runLoad = (server: Server, name: "create" | "listAfter", ids: Ids, seconds: number): Promise<LoadResult> =>
  runWrk(server, { exchanges: [server.exchanges[name] as Exchange], connections: CONNECTIONS, seconds, ids });

/** Compares the largest database with the smallest. Only the chart shows the sizes between. */
function toMetric(name: string, sizes: readonly number[], resultsOf: (size: number) => readonly LoadResult[]): Metric {
  const [smallest, ...larger] = sizes as [number, ...number[]];
  const measured = (plants: number, role: "product" | "limit"): Measurement => ({
    ...toMeasurement({ name: formatPlants(plants), role }, resultsOf(plants)),
    plants,
  });
  const [largest = smallest, ...between] = larger.toReversed();
  return {
    what: `${name}, ${CONNECTIONS} connections, ${formatPlants(largest)} stored`,
    unit: "/s",
    targets: [{ atLeast: 0.9, of: formatPlants(smallest) }],
    measurements: [
      measured(largest, "product"),
      measured(smallest, "limit"),
      ...between.map((size) => measured(size, "product")),
    ],
  };
}

const formatPlants = (plants: number): string => `${plants.toLocaleString("en")} plants`;
