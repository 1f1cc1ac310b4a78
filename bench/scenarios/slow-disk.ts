import { lineUp } from "../line-up.ts";
import { ascendingIds } from "../load/ids.ts";
import type { Paced } from "../load/open-loop.ts";
import { pacedLoad } from "../load/paced.ts";
import { load } from "../load/wrk.ts";
import { probeAll, toLatency } from "../rounds.ts";
import type { Depth, Measurement, Scenario } from "../scenario.ts";
import type { Exchange } from "../servers/exchange.ts";
import { PLANT_STORE } from "../servers/plant-store.ts";

const FSYNC_MS = 20;
const LISTS_PER_SECOND = 2_000;
/** strace holds up every call that reaches the disk, and no other. */
const SLOW_DISK = ["strace", "-D", "-f", "--seccomp-bpf", "-o", "/dev/null"].concat([
  "--trace=fsync,fdatasync",
  `--inject=fsync,fdatasync:delay_exit=${FSYNC_MS * 1_000}`,
]);

export const slowDisk: Scenario = {
  name: "slow-disk",
  about: `latency of lists while every fsync takes ${FSYNC_MS} ms`,
  async run(depth) {
    const what = `p99 of a list of 20, open loop at 2,000/s, while 64 connections create and every fsync takes ${FSYNC_MS} ms`;
    return [{ what, unit: "ms", targets: [{ atMost: 5 }], measurements: [await listWhileSlow(depth)] }];
  },
};

async function listWhileSlow(depth: Depth): Promise<Measurement> {
  if (Bun.which("strace") === null) {
    const missing = "strace is missing: apt-get install strace";
    return { server: PLANT_STORE, role: "product", rounds: [], errors: 0, missing };
  }
  await using running = await lineUp({ plants: 1_000, under: SLOW_DISK });
  const { product } = running;
  await probeAll(product, ["list", "create"]);
  const { list, create } = product.exchanges as { list: Exchange; create: Exchange };
  const results: Paced[] = [];
  for (let round = 0; round <= depth.rounds; round++) {
    const seconds = depth.seconds + 1;
    const creating = load(product, { exchanges: [create], connections: 64, seconds, ids: ascendingIds(round) });
    const pace = { perSecond: LISTS_PER_SECOND, seconds: depth.seconds, connections: 64, isPrecise: true };
    const lists = await pacedLoad(product, { exchange: list, ...pace });
    const creates = await creating;
    if (round > 0) results.push({ ...lists, errors: lists.errors + creates.errors });
  }
  return toLatency(product, results);
}
