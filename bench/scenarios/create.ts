import { join } from "node:path";
import { ascendingIds } from "../load/ids.ts";
import { newFolder, SERVER_CORE, spawn } from "../processes.ts";
import { measureThroughput, type SystemUnderTest } from "../rounds.ts";
import type { Metric, RunSettings, Scenario } from "../scenario.ts";
import { copySeeded } from "../seed.ts";
import { startServers } from "../server-group.ts";
import { NGINX } from "../servers/limits.ts";

export const create: Scenario = {
  name: "create",
  description: "durable creates",
  async run(settings) {
    const metrics: Metric[] = [await measureWith64Connections(settings)];
    if (settings.isQuick) return metrics;
    await using group = await startServers({
      against: settings.against,
      plants: 0,
      limitsFor: ["create"],
      withBareBun: true,
    });
    for (const [index, connections] of [1, 512].entries()) {
      const ids = (round: number) => ascendingIds(100 * index + round);
      const what = connections === 1 ? "durable create, 1 connection" : `durable create, ${connections} connections`;
      // A single connection waits for every fsync, so the result depends on the disk.
      const targets = connections === 1 ? [] : TARGETS;
      metrics.push(await measureThroughput(group, { settings, what, targets, requests: ["create"], connections, ids }));
    }
    return metrics;
  },
};

const TARGETS = [{ atLeast: 0.36, of: NGINX }];

async function measureWith64Connections(settings: RunSettings): Promise<Metric> {
  const { withPeers, against } = settings;
  await using group = await startServers({ against, plants: 0, limitsFor: ["create"], withBareBun: true, withPeers });
  const folder = newFolder();
  const metric = await measureThroughput(group, {
    settings,
    what: "durable create, 64 connections",
    targets: [...TARGETS, { atLeast: 5, of: "PocketBase" }],
    requests: ["create"],
    connections: 64,
    ids: ascendingIds,
    additional: [await bareSqlite(folder.path, settings)],
  });
  folder.remove();
  return metric;
}

/** SQLite without a server, in batches as large as the number of connections. */
async function bareSqlite(folder: string, { seconds }: RunSettings): Promise<SystemUnderTest> {
  const path = join(folder, "plants.db");
  await copySeeded(0, path);
  const script = join(import.meta.dir, "../servers/bare-sqlite.ts");
  return {
    name: "bare SQLite",
    role: "limit",
    async measure(round) {
      const args = [path, String(seconds), String(ascendingIds(round).from)];
      const child = spawn([process.execPath, script, ...args], { cores: SERVER_CORE });
      const perSecond = Number(await new Response(child.stdout).text());
      return { perSecond, errors: await child.exited };
    },
  };
}
