import { medianOf } from "../comparison.ts";
import { ascendingIds } from "../load/ids.ts";
import type { OpenLoopResult } from "../load/open-loop.ts";
import { runOpenLoop } from "../load/run-open-loop.ts";
import { measureThroughput, toLatencyMeasurement } from "../rounds.ts";
import type { Metric, RunSettings, Scenario } from "../scenario.ts";
import { type ServerGroup, startServers } from "../server-group.ts";
import type { Exchange } from "../servers/exchange.ts";
import type { Server } from "../servers/server.ts";

const CONNECTIONS = 64;

export const openLoop: Scenario = {
  name: "open-loop",
  description: "latency of creates and lists, sent at fixed times at half of the maximum rate",
  async run(settings) {
    await using group = await startServers({ against: settings.against, plants: 1_000, limitsFor: ["list", "create"] });
    return [await measureLatency(group, "create", settings), await measureLatency(group, "list", settings)];
  },
};

async function measureLatency(group: ServerGroup, request: "create" | "list", settings: RunSettings): Promise<Metric> {
  const name = request === "create" ? "durable create" : "list of 20";
  const options = { requests: [request], connections: CONNECTIONS, ids: ascendingIds, what: "", targets: [] };
  const maximum = await measureThroughput({ ...group, servers: [group.product] }, { ...options, settings });
  const perSecond = Math.floor(medianOf(maximum.measurements[0]) / 2);
  const results = new Map<Server, OpenLoopResult[]>(group.servers.map((server) => [server, []]));
  for (let round = 0; round < settings.rounds; round++) {
    for (const server of group.servers) {
      const exchange = server.exchanges[request] as Exchange;
      const ids = ascendingIds(100 + round);
      const rate = { perSecond, seconds: 2 * settings.seconds, connections: CONNECTIONS, isPrecise: true };
      results.get(server)?.push(await runOpenLoop(server, { exchange, ids, ...rate }));
    }
  }
  const measurements = [...results].map(([server, rounds]) => toLatencyMeasurement(server, rounds));
  const what = `p99 of a ${name}, open loop at ${perSecond.toLocaleString("en")}/s (half of the maximum)`;
  return { what, unit: "ms", targets: [{ atMost: 5 }], measurements: [...measurements, ...group.missing] };
}
