import { medianOf } from "../judge.ts";
import { type LineUp, lineUp } from "../line-up.ts";
import { ascendingIds } from "../load/ids.ts";
import type { Paced } from "../load/open-loop.ts";
import { pacedLoad } from "../load/paced.ts";
import { throughput, toLatency } from "../rounds.ts";
import type { Depth, Figure, Scenario } from "../scenario.ts";
import type { Exchange } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";

const CONNECTIONS = 64;

export const openLoop: Scenario = {
  name: "open-loop",
  about: "latency of creates and lists at half of the most, sent at fixed times",
  async run(depth) {
    await using running = await lineUp({ plants: 1_000, constants: ["list", "create"] });
    return [await latency(running, "create", depth), await latency(running, "list", depth)];
  },
};

async function latency(running: LineUp, ask: "create" | "list", depth: Depth): Promise<Figure> {
  const name = ask === "create" ? "durable create" : "list of 20";
  const options = { asks: [ask], connections: CONNECTIONS, ids: ascendingIds, what: "", targets: [] };
  const most = await throughput({ ...running, servers: [running.product] }, { ...options, depth });
  const perSecond = Math.floor(medianOf(most.measurements[0]) / 2);
  const results = new Map<Server, Paced[]>(running.servers.map((server) => [server, []]));
  for (let round = 0; round < depth.rounds; round++) {
    for (const server of running.servers) {
      const exchange = server.exchanges[ask] as Exchange;
      const ids = ascendingIds(100 + round);
      const pace = { perSecond, seconds: 2 * depth.seconds, connections: CONNECTIONS, isPrecise: true };
      results.get(server)?.push(await pacedLoad(server, { exchange, ids, ...pace }));
    }
  }
  const measurements = [...results].map(([server, paced]) => toLatency(server, paced));
  const what = `p99 of a ${name}, open loop at ${perSecond.toLocaleString("en")}/s, half of the most`;
  return { what, unit: "ms", targets: [{ atMost: 5 }], measurements: [...measurements, ...running.missing] };
}
