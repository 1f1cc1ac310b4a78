/** `npm run bench`: durable creates beside a constant, in one run. */
import { type Load, load, requireWrk } from "./load.ts";
import { type Server, startBareBun, startPlantStore } from "./servers.ts";

const CONNECTIONS = 64;
const ROUNDS = 5;
const SECONDS = 4;

requireWrk();
const servers = [await startBareBun(18_701), await startPlantStore(18_702)];
try {
  const loads = await alternate(servers);
  report(servers, loads);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}

/** Several rounds in turn, after one that warms up, so that a drift of the machine meets all alike. */
async function alternate(servers: readonly Server[]): Promise<Map<Server, Load[]>> {
  const loads = new Map<Server, Load[]>(servers.map((server) => [server, []]));
  for (let run = 0; run <= ROUNDS; run++) {
    for (const server of servers) {
      const measured = await load(server, { script: "create.lua", connections: CONNECTIONS, seconds: SECONDS, run });
      if (run > 0) loads.get(server)?.push(measured);
    }
  }
  return loads;
}

function report(servers: readonly Server[], loads: Map<Server, Load[]>): void {
  console.log(
    `POST /plants, ${CONNECTIONS} connections, server on one core, medians of ${ROUNDS} runs of ${SECONDS} s`,
  );
  const [limit] = servers.map((server) => median(loads.get(server)?.map(({ perSecond }) => perSecond) ?? []));
  for (const server of servers) {
    const runs = loads.get(server) ?? [];
    const rates = runs.map(({ perSecond }) => perSecond);
    const errors = runs.reduce((sum, run) => sum + run.errors, 0);
    console.log(
      [
        server.name.padEnd(16),
        `${Math.round(median(rates))}/s`.padStart(9),
        `(${Math.round(Math.min(...rates))} to ${Math.round(Math.max(...rates))})`.padEnd(18),
        `p99 ${median(runs.map(({ p99Ms }) => p99Ms)).toFixed(2)} ms`,
        `${errors} errors`,
        `ratio ${(median(rates) / (limit ?? 0)).toFixed(2)}`,
      ].join("  "),
    );
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle) - 1] ?? 0)) / 2;
}
