import { ascendingIds } from "../load/ids.ts";
import { runOpenLoop } from "../load/run-open-loop.ts";
import { runWrk } from "../load/wrk.ts";
import { measureInterleaved, probeAll, type SystemUnderTest } from "../rounds.ts";
import type { RunSettings, Scenario } from "../scenario.ts";
import { startServers } from "../server-group.ts";
import type { Exchange } from "../servers/exchange.ts";
import { NGINX } from "../servers/limits.ts";
import type { Server } from "../servers/server.ts";

const CREATES_PER_SECOND = 1_000;

export const listDuringCreates: Scenario = {
  name: "list-during-creates",
  description: "lists of 20 during creates by the same owner",
  async run(settings) {
    await using group = await startServers({ against: settings.against, plants: 1_000, limitsFor: ["list", "create"] });
    for (const server of group.servers) await probeAll(server, ["list", "create"]);
    const what = `list of 20, 64 connections, during ${CREATES_PER_SECOND.toLocaleString("en")} creates/s`;
    const targets = [{ atLeast: 0.3, of: NGINX }];
    const measurements = await measureInterleaved(
      group.servers.map((server) => toSystem(server, settings)),
      settings,
    );
    return [{ what, unit: "/s", targets, measurements: [...measurements, ...group.missing] }];
  },
};

const toSystem = (server: Server, { seconds }: RunSettings): SystemUnderTest => ({
  name: server.name,
  role: server.role,
  async measure(round) {
    const creating = runOpenLoop(server, {
      exchange: server.exchanges.create as Exchange,
      ids: ascendingIds(round),
      perSecond: CREATES_PER_SECOND,
      seconds: seconds + 0.5,
      connections: 16,
      isPrecise: false,
    });
    const exchanges = [server.exchanges.list as Exchange];
    const lists = await runWrk(server, { exchanges, connections: 64, seconds });
    const creates = await creating;
    return { ...lists, errors: lists.errors + creates.errors };
  },
});
