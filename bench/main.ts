/** `npm run bench`: durable creates beside a constant in one run, and lists on a slow disk. */
import { type Load, load, requireWrk } from "./load.ts";
import { type Server, SLOW_DISK, startBareBun, startPlantStore } from "./servers.ts";

const CONNECTIONS = 64;
const ROUNDS = 5;
const SECONDS = 4;

requireWrk();
await creates();
await listsOnSlowDisk();

/** The most creates a second, beside what the runtime can do at all. */
async function creates(): Promise<void> {
  const servers = [await startBareBun(18_701), await startPlantStore(18_702)];
  try {
    report(servers, await alternate(servers));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** Whether reads wait for the disk: lists while every fsync is held up and the writer is never idle. */
async function listsOnSlowDisk(): Promise<void> {
  if (Bun.which("strace") === null)
    return console.log("\nstrace holds up the disk and is missing: apt-get install strace");
  const server = await startPlantStore(18_703, SLOW_DISK);
  try {
    const creating = load(server, { script: "create.lua", connections: CONNECTIONS, seconds: SECONDS + 2, run: 1 });
    const listing = await load(server, { script: "list.lua", connections: 8, seconds: SECONDS, run: 1 });
    const { p50Ms, errors } = await creating;
    console.log(`
GET /plants?limit=20, 8 connections, while ${CONNECTIONS} others create and every fsync takes 50 ms
list    p50 ${listing.p50Ms.toFixed(2)} ms  p99 ${listing.p99Ms.toFixed(2)} ms  ${listing.errors} errors
create  p50 ${p50Ms.toFixed(2)} ms  ${errors} errors`);
  } finally {
    await server.stop();
  }
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
