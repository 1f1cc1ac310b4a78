import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Balancer } from "../support/balancer.ts";
import { Connection } from "../support/connection.ts";
import { Ledger } from "../support/ledger.ts";
import { newPostgresDatabase, type PostgresDatabase } from "../support/postgres.ts";
import { createToken, fetchMetrics, type ServerProcess } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { until } from "../support/until.ts";

const ROUNDS = Number(process.env["PLANTSTORE_RESTART_ROUNDS"] || 2);
const TIMEOUT_MS = 120_000;
/** Number of writes between two events. */
const WRITES_BETWEEN_EVENTS = 400;
/** Minimum number of lists in each round. */
const MIN_LISTS = 4;
/** The arguments of each replica: one of them has workers. */
const REPLICAS: readonly string[][] = [[], [], ["--workers", "2"]];
/** Timeouts for a database whose disk may be busy with other tests. */
const PATIENT = ["--pool-size", "5", "--query-timeout", "30s"];

let database: PostgresDatabase;
beforeAll(async () => {
  database = await newPostgresDatabase();
}, TIMEOUT_MS);
afterAll(() => database.drop());

/** The balancer must notice a draining server in this time, also on a busy machine. */
const DRAIN = ["--drain", "5s"];

const startServerProcess = useServerProcesses();
const start = (args: readonly string[] = []): Promise<ServerProcess> =>
  startServerProcess(["--database", database.url, ...PATIENT, ...DRAIN, ...args]);

const statusOf = (url: string): Promise<number> =>
  fetch(url, { keepalive: false }).then(
    ({ status }) => status,
    () => 0,
  );

describe("three servers on one database, under load", () => {
  let unacknowledged = 0;

  for (let round = 0; round < ROUNDS; round++) {
    it(
      `lose no write when one is killed, and fail no request when one restarts, round ${round + 1}`,
      async () => {
        const token = await createToken(database.url, `owner-${round}`);
        const kinds = [...REPLICAS.slice(round % 3), ...REPLICAS.slice(0, round % 3)];
        const [killed, drained, steady] = (await Promise.all(kinds.map(start))) as [
          ServerProcess,
          ServerProcess,
          ServerProcess,
        ];
        const balancer = new Balancer(token);
        await Promise.all([killed, drained, steady].map(({ url }) => balancer.add(url)));
        const ledger = new Ledger();
        let isOver = false;
        const load = Promise.all([ledger.write(balancer, () => isOver), ledger.read(balancer, () => isOver)]);
        const untilMoreWrites = async () => {
          const enough = ledger.acknowledged + WRITES_BETWEEN_EVENTS;
          await until(() => ledger.acknowledged >= enough);
        };
        /** Ends a server with a signal under load and starts it again. */
        const restart = async (server: ServerProcess, kind: readonly string[] | undefined, signal: NodeJS.Signals) => {
          await untilMoreWrites();
          // A worker that loses only its supervisor shuts down gracefully.
          if (signal === "SIGKILL") for (const pid of server.workers().values()) process.kill(pid, signal);
          const exitCode = await server.stop(signal);
          await untilMoreWrites();
          balancer.remove(server.url);
          const again = await start(kind);
          await balancer.add(again.url);
          await untilMoreWrites();
          return { exitCode, again };
        };

        try {
          const { again: revived } = await restart(killed, kinds[0], "SIGKILL");
          const { exitCode, again: restarted } = await restart(drained, kinds[1], "SIGTERM");
          await until(() => ledger.lists >= MIN_LISTS);
          isOver = true;
          await load;

          expect(exitCode).toBe(0);
          balancer.failures.delete(killed.url);
          expect([...balancer.failures]).toEqual([]);
          expect(await ledger.violations(balancer)).toEqual([]);
          unacknowledged += await ledger.retryUnacknowledged(balancer);
          expect(await ledger.violations(balancer)).toEqual([]);
          const programs = [steady, revived, restarted];
          for (const { url } of programs) balancer.remove(url);
          expect(await Promise.all(programs.map((server) => server.stop()))).toEqual([0, 0, 0]);
        } finally {
          isOver = true;
        }
      },
      TIMEOUT_MS,
    );
  }

  // One batch acknowledges many writes at once, so a single kill may find none in progress.
  it("interrupt writes in some round", () => {
    expect(unacknowledged).toBeGreaterThan(0);
  });
});

describe("a draining server", () => {
  const livez = { method: "GET", path: "/livez" };

  for (const kind of [[], ["--workers", "2"]]) {
    it(
      `serves requests on old and new connections and closes each after its response: ${kind.join(" ")}`,
      async () => {
        const server = await start(kind);
        const old = await Promise.all(Array.from({ length: 10 }, () => Connection.open(server.url)));
        for (const each of old) expect((await each.send(livez)).headers.get("connection")).toBeNull();
        server.process.kill("SIGTERM");
        await until(
          () => statusOf(`${server.url}/readyz`),
          (status) => status === 503,
        );
        const fresh = await Promise.all(Array.from({ length: 10 }, () => Connection.open(server.url)));
        for (const connection of [...old, ...fresh]) {
          const { status, headers } = await connection.send(livez);
          expect([status, headers.get("connection"), connection.isOpen]).toEqual([200, "close", false]);
        }
        expect(await server.process.exited).toBe(0);
      },
      TIMEOUT_MS,
    );
  }

  it(
    "completes a list in progress to a slow client",
    async () => {
      const token = await createToken(database.url, "reader");
      await database.query(
        "INSERT INTO plants (owner, id, name) SELECT 'reader', n, repeat('🌱', 1000) FROM generate_series(1, 4000) n",
      );
      const server = await start(["--drain", "0s", "--stop-timeout", "1m"]);
      const connection = await Connection.open(server.url);
      const headers = { Authorization: `Bearer ${token}` };
      const list = connection.send({ method: "GET", path: "/plants?fields=id,name", headers });
      connection.pause();
      await until(
        () => fetchMetrics(server),
        (text) => text.includes("plantstore_http_requests_pending 1"),
      );
      server.process.kill("SIGTERM");
      await until(
        () => statusOf(`${server.url}/livez`),
        (status) => status === 0,
      );
      connection.resume();
      expect(JSON.parse((await list).text)).toHaveLength(4_000);
      expect(await server.process.exited).toBe(0);
    },
    TIMEOUT_MS,
  );
});
