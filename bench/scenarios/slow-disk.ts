import { ascendingIds } from "../load/ids.ts";
import type { OpenLoopResult } from "../load/open-loop.ts";
import { runOpenLoop } from "../load/run-open-loop.ts";
import { runWrk } from "../load/wrk.ts";
import { probeAll, toLatencyMeasurement } from "../rounds.ts";
import type { Measurement, RunSettings, Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import type { Exchange } from "../servers/exchange.ts";
import { PLANT_STORE } from "../servers/plant-store.ts";
import type { Server } from "../servers/server.ts";

const FSYNC_MS = 20;
const LISTS_PER_SECOND = 2_000;
/** strace delays only the system calls that reach the disk. */
const SLOW_DISK = ["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null"].concat([
  "--trace=fsync,fdatasync",
  `--inject=fsync,fdatasync:delay_exit=${FSYNC_MS * 1_000}`,
]);

export const slowDisk: Scenario = {
  name: "slow-disk",
  description: `latency of lists when every fsync takes ${FSYNC_MS} ms`,
  async run(settings) {
    const what = `p99 of a list of 20, open loop at 2,000/s, during creates on 64 connections with ${FSYNC_MS} ms per fsync`;
    return [{ what, unit: "ms", targets: [{ atMost: 5 }], measurements: await measureLists(settings) }];
  },
};

async function measureLists(settings: RunSettings): Promise<Measurement[]> {
  if (Bun.which("strace") === null) {
    const missing = "strace is missing: apt-get install strace";
    return [{ server: PLANT_STORE, role: "product", rounds: [], errors: 0, missing }];
  }
  const { against } = settings;
  await using group = await startServers({ against, plants: 1_000, commandPrefix: SLOW_DISK });
  const { servers } = group;
  for (const server of servers) await probeAll(server, ["list", "create"]);
  const results = new Map<Server, OpenLoopResult[]>(servers.map((server) => [server, []]));
  for (let round = 0; round <= settings.rounds; round++) {
    for (const server of servers) {
      const result = await measureListsDuringCreates(server, round, settings.seconds);
      if (round > 0) results.get(server)?.push(result);
    }
  }
  return [...results].map(([server, rounds]) => toLatencyMeasurement(server, rounds));
}

async function measureListsDuringCreates(server: Server, round: number, seconds: number): Promise<OpenLoopResult> {
  const { list, create } = server.exchanges as { list: Exchange; create: Exchange };
  const load = { exchanges: [create], connections: 64, seconds: seconds + 1, ids: ascendingIds(round) };
  const creating = runWrk(server, load);
  const rate = { perSecond: LISTS_PER_SECOND, seconds, connections: 64, isPrecise: true };
  const lists = await runOpenLoop(server, { exchange: list, ...rate });
  const creates = await creating;
  return { ...lists, errors: lists.errors + creates.errors };
}
