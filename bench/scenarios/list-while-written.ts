import { lineUp } from "../line-up.ts";
import { ascendingIds } from "../load/ids.ts";
import { pacedLoad } from "../load/paced.ts";
import { load } from "../load/wrk.ts";
import { measure, probeAll, type Subject } from "../rounds.ts";
import type { Depth, Scenario } from "../scenario.ts";
import type { Exchange } from "../servers/exchange.ts";
import { NGINX } from "../servers/limits.ts";
import type { Server } from "../servers/server.ts";

const CREATES_PER_SECOND = 1_000;

export const listWhileWritten: Scenario = {
  name: "list-while-written",
  about: "lists of 20 while the same owner's plants are being written",
  async run(depth) {
    await using running = await lineUp({ plants: 1_000, constants: ["list", "create"] });
    for (const server of running.servers) await probeAll(server, ["list", "create"]);
    const what = `list of 20, 64 connections, while ${CREATES_PER_SECOND.toLocaleString("en")} creates a second come in`;
    const targets = [{ atLeast: 0.3, of: NGINX }];
    const measurements = await measure(
      running.servers.map((server) => toSubject(server, depth)),
      depth,
    );
    return [{ what, unit: "/s", targets, measurements: [...measurements, ...running.missing] }];
  },
};

const toSubject = (server: Server, { seconds }: Depth): Subject => ({
  name: server.name,
  role: server.role,
  async measure(round) {
    const creating = pacedLoad(server, {
      exchange: server.exchanges.create as Exchange,
      ids: ascendingIds(round),
      perSecond: CREATES_PER_SECOND,
      seconds: seconds + 0.5,
      connections: 16,
      isPrecise: false,
    });
    const exchanges = [server.exchanges.list as Exchange];
    const lists = await load(server, { exchanges, connections: 64, seconds });
    const creates = await creating;
    return { ...lists, errors: lists.errors + creates.errors };
  },
});
