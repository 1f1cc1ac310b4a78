import { join } from "node:path";
import { lineUp } from "../line-up.ts";
import { ascendingIds } from "../load/ids.ts";
import { newFolder, SERVER_CORE, spawn } from "../processes.ts";
import { type Subject, throughput } from "../rounds.ts";
import type { Depth, Figure, Scenario } from "../scenario.ts";
import { copySeeded } from "../seed.ts";
import { NGINX } from "../servers/limits.ts";

export const create: Scenario = {
  name: "create",
  about: "durable creates",
  async run(depth) {
    const figures: Figure[] = [await withPeers(depth)];
    if (depth.isQuick) return figures;
    await using running = await lineUp({ plants: 0, constants: ["create"], withBareBun: true });
    for (const [index, connections] of [1, 512].entries()) {
      const ids = (round: number) => ascendingIds(100 * index + round);
      const what = connections === 1 ? "durable create, 1 connection" : `durable create, ${connections} connections`;
      // A single connection waits for every fsync: how fast that is, is a matter of the disk.
      const targets = connections === 1 ? [] : TARGETS;
      figures.push(await throughput(running, { depth, what, targets, asks: ["create"], connections, ids }));
    }
    return figures;
  },
};

const TARGETS = [{ atLeast: 0.36, of: NGINX }];

async function withPeers(depth: Depth): Promise<Figure> {
  await using running = await lineUp({ plants: 0, constants: ["create"], withBareBun: true, peersOf: depth });
  const folder = newFolder();
  const figure = await throughput(running, {
    depth,
    what: "durable create, 64 connections",
    targets: [...TARGETS, { atLeast: 5, of: "PocketBase" }],
    asks: ["create"],
    connections: 64,
    ids: ascendingIds,
    beside: [await bareSqlite(folder.path, depth)],
  });
  folder.remove();
  return figure;
}

/** Inserts without a server, in groups of as many as there are connections. */
async function bareSqlite(folder: string, { seconds }: Depth): Promise<Subject> {
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
