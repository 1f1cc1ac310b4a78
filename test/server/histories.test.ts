import { afterEach, describe, expect, it } from "bun:test";
import { DATABASES, type TestDatabase } from "../support/engines.ts";
import { HISTORY_LENGTH, recordHistory } from "../support/history.ts";
import { isLinearizable, type Operation } from "../support/linearizability.ts";
import { createToken, type ServerProcess } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";

const HISTORIES = Number(process.env["PLANTSTORE_HISTORIES"] || 30);
/** A server is killed and restarted in the middle of one in this many histories. */
const HISTORIES_PER_KILL = 10;
const IDS_PER_HISTORY = 100;
const TIMEOUT_MS = 120_000 + HISTORIES * 1_000;
const SERVERS: Record<string, number> = { SQLite: 1, PostgreSQL: 2 };

const start = useServerProcesses();

describe.each(DATABASES)("concurrent creates, deletes and lists on %s", (engine, newDatabase) => {
  let database: TestDatabase | undefined;
  afterEach(() => database?.drop());

  it(
    `are linearizable in ${HISTORIES} histories, even if a server is killed`,
    async () => {
      database = await newDatabase();
      const { url } = database;
      const token = await createToken(url, "ann");
      const launch = () => start(["--database", url, "--admin-port", "off", "--drain", "0s"]);
      const servers: Promise<ServerProcess>[] = Array.from({ length: SERVERS[engine] as number }, launch);
      await Promise.all(servers);
      const restart = async (killed: ServerProcess) => {
        await killed.stop("SIGKILL");
        return launch();
      };

      const illegal: Operation[][] = [];
      let unknown = 0;
      for (let count = 0; count < HISTORIES; count++) {
        const killed = count % HISTORIES_PER_KILL === 0 ? await servers[0] : undefined;
        let replies = 0;
        const history = await recordHistory({
          token,
          firstId: count * IDS_PER_HISTORY,
          urlOf: async (client) => (await (servers[client % servers.length] as Promise<ServerProcess>)).url,
          onReply() {
            if (++replies === HISTORY_LENGTH / 2 && killed !== undefined) servers[0] = restart(killed);
          },
        });
        await Promise.all(servers);
        if (!isLinearizable(history)) illegal.push(history);
        unknown += history.filter(({ returned }) => returned === Number.POSITIVE_INFINITY).length;
      }
      console.log(`${engine}: ${HISTORIES} histories, ${illegal.length} illegal, ${unknown} unknown outcomes`);
      expect(illegal).toEqual([]);

      for (const server of servers) expect(await (await server).stop()).toBe(0);
    },
    TIMEOUT_MS,
  );
});
