import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Ledger } from "../../support/ledger.ts";
import { type PostgresDatabase, type PostgresServer, startPostgres } from "../../support/postgres.ts";
import { createToken, type ServerProcess, startServerProcess } from "../../support/program.ts";
import { startProxy } from "../../support/proxy.ts";
import { RecordingClient } from "../../support/recording-client.ts";
import { until } from "../../support/until.ts";

const TIMEOUT_MS = 120_000;
const QUERY_TIMEOUT_MS = 1_000;
/** Request timeout on a busy machine. */
const DEADLINE_MS = QUERY_TIMEOUT_MS + 9_000;
/** Acknowledged writes between two events. */
const WRITES_BETWEEN_EVENTS = 1_000;

/** The current primary, then the former ones. */
let servers: PostgresServer[];
let database: PostgresDatabase;
let address: Awaited<ReturnType<typeof startProxy>>;
let server: ServerProcess;
let token: string;
beforeAll(async () => {
  const first = await startPostgres();
  servers = [first];
  database = await first.newDatabase();
  address = await startProxy(database.url);
  server = await startServerProcess(["--database", address.url, "--query-timeout", `${QUERY_TIMEOUT_MS}ms`]);
  token = await createToken(database.url, "ann");
}, TIMEOUT_MS);
afterAll(async () => {
  await server.stop();
  address.stop();
  for (const each of servers) await each.stop();
});

const standbyRejections = () => server.log().filter((line) => JSON.stringify(line).includes("it is a standby")).length;

describe("a failover to a synchronous standby", () => {
  const ledger = new Ledger();

  /** Runs `killPrimary` under load, then promotes the standby. */
  async function failOver(
    killPrimary: (primary: PostgresServer, standby: PostgresServer, recorder: RecordingClient) => Promise<void>,
  ) {
    const [primary] = servers as [PostgresServer];
    const standby = await primary.startStandby();
    const recorder = new RecordingClient({ url: server.url, token }, DEADLINE_MS);
    let isOver = false;
    const load = Promise.all([ledger.write(recorder, () => isOver), ledger.read(recorder, () => isOver)]);
    const writeMore = async () => {
      const [acknowledged, lists] = [ledger.acknowledged, recorder.lists];
      await until(() => ledger.acknowledged >= acknowledged + WRITES_BETWEEN_EVENTS && recorder.lists > lists);
    };
    try {
      await writeMore();
      await killPrimary(primary, standby, recorder);
      servers.unshift(standby);
      await moreFailures(recorder);

      address.moveTo(standby.url);
      const [acknowledged, lists] = [ledger.acknowledged, recorder.lists];
      const rejections = standbyRejections();
      while (standbyRejections() === rejections) await moreFailures(recorder);
      expect([ledger.acknowledged, recorder.lists]).toEqual([acknowledged, lists]);

      await standby.promote();
      await writeMore();
    } finally {
      isOver = true;
    }
    await load;
    expect(recorder.failures).toEqual([]);
    expect(await ledger.violations(recorder)).toEqual([]);
    expect(await ledger.retryUnacknowledged(recorder)).toBeGreaterThan(0);
    expect(await ledger.violations(recorder)).toEqual([]);
  }

  /** Resolves when more writes and lists got a 503, and checks that `/readyz` returns it too. */
  async function moreFailures({ rejections }: RecordingClient): Promise<void> {
    const { writes, lists } = rejections;
    await until(() => rejections.writes > writes + 24 && rejections.lists > lists);
    const { status, headers } = await fetch(`${server.url}/readyz`);
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
  }

  it(
    "loses no acknowledged write, uses no standby, and needs no restart of the server",
    () =>
      failOver(async (primary) => {
        primary.kill("SIGKILL");
      }),
    TIMEOUT_MS,
  );

  it(
    "loses no acknowledged write when the standby was suspended before",
    () =>
      failOver(async (primary, standby, { rejections }) => {
        const resume = await standby.suspend();
        const { writes } = rejections;
        await until(() => rejections.writes > writes + 50);
        primary.kill("SIGKILL");
        resume();
      }),
    TIMEOUT_MS,
  );
});
