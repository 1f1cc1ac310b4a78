import { lineUp } from "../line-up.ts";
import { ascendingIds, type Ids, scatteredIds } from "../load/ids.ts";
import { type Load, load } from "../load/wrk.ts";
import { probeAll, toMeasurement } from "../rounds.ts";
import type { Depth, Figure, Measurement, Scenario } from "../scenario.ts";
import type { Exchange } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 1;

/** What is measured of each store, in this order: a list leaves it as it was. */
const KINDS = [
  { ask: "listAfter", name: "list of 20 at a random place", ids: (plants: number) => scatteredIds(plants, 1) },
  { ask: "create", name: "durable create, scattered ids", ids: (plants: number) => scatteredIds(plants, 2) },
  { ask: "create", name: "durable create, ascending ids", ids: () => ascendingIds(1) },
] as const;

export const stores: Scenario = {
  name: "stores",
  about: "creates and lists with 10 thousand to 10 million plants in the store",
  isLeftOutWhenQuick: true,
  async run(depth) {
    const sizes = depth.isQuick ? [10_000, 100_000, 1_000_000] : [10_000, 100_000, 1_000_000, 10_000_000];
    const loads = new Map(sizes.map((size) => [size, KINDS.map((): Load[] => [])]));
    for (let round = 0; round < depth.rounds; round++) {
      for (const size of sizes) {
        const measured = await measureStore(size, depth);
        for (const [index, each] of measured.entries()) loads.get(size)?.[index]?.push(each);
      }
    }
    return KINDS.map(({ name }, index) => toFigure(name, sizes, (size) => loads.get(size)?.[index] ?? []));
  },
};

/** A new copy each time: creates make a small store grow fast. */
async function measureStore(plants: number, { seconds }: Depth): Promise<Load[]> {
  await using running = await lineUp({ plants });
  const { product } = running;
  await probeAll(product, ["listAfter", "create"]);
  await ask(product, "listAfter", scatteredIds(plants, 0), WARM_UP_SECONDS);
  await ask(product, "create", scatteredIds(plants, 0), WARM_UP_SECONDS);
  const loads: Load[] = [];
  for (const kind of KINDS) loads.push(await ask(product, kind.ask, kind.ids(plants), seconds));
  return loads;
}

const ask = (server: Server, name: "create" | "listAfter", ids: Ids, seconds: number): Promise<Load> =>
  load(server, { exchanges: [server.exchanges[name] as Exchange], connections: CONNECTIONS, seconds, ids });

/** The largest store beside the smallest; those between are for the chart. */
function toFigure(name: string, sizes: readonly number[], loadsOf: (size: number) => readonly Load[]): Figure {
  const [smallest, ...larger] = sizes as [number, ...number[]];
  const measured = (plants: number, role: "product" | "limit"): Measurement => ({
    ...toMeasurement({ name: inStore(plants), role }, loadsOf(plants)),
    plants,
  });
  const [largest = smallest, ...between] = larger.toReversed();
  return {
    what: `${name}, ${CONNECTIONS} connections, ${inStore(largest)} in the store`,
    unit: "/s",
    targets: [{ atLeast: 0.9, of: inStore(smallest) }],
    measurements: [
      measured(largest, "product"),
      measured(smallest, "limit"),
      ...between.map((size) => measured(size, "product")),
    ],
  };
}

const inStore = (plants: number): string => `${plants.toLocaleString("en")} plants`;
