import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Balancer } from "../support/balancer.ts";
import { Connection } from "../support/connection.ts";
import { Ledger } from "../support/ledger.ts";
import { newPostgresDatabase, type PostgresDatabase } from "../support/postgres.ts";
import { createToken, fetchMetrics, type Program, startProgram } from "../support/program.ts";
import { until } from "../support/until.ts";

const ROUNDS = Number(process.env["PLANTSTORE_RESTART_ROUNDS"] || 2);
const TIMEOUT_MS = 120_000;
/** Answered operations between one event and the next. */
const STRETCH = 400;
/** The arguments of each replica: one of them has workers. */
const REPLICAS: readonly string[][] = [[], [], ["--workers", "2"]];
/** Patience with the database, whose disk other tests may keep busy. */
const PATIENT = ["--pool-size", "5", "--query-timeout", "30s"];

let database: PostgresDatabase;
beforeAll(async () => {
  database = await newPostgresDatabase();
}, TIMEOUT_MS);
afterAll(() => database.drop());

const start = (args: readonly string[] = []): Promise<Program> =>
  startProgram(["--database", database.url, ...PATIENT, "--drain", "1s", ...args]);

const statusOf = (url: string): Promise<number> =>
  fetch(url, { keepalive: false }).then(
    ({ status }) => status,
    () => 0,
  );

describe("three servers on one database, under load", () => {
  for (let round = 0; round < ROUNDS; round++) {
    it(
      `lose nothing when one is killed, and fail no request when one restarts, round ${round + 1}`,
      async () => {
        const token = await createToken(database.url, `owner-${round}`);
        const kinds = [...REPLICAS.slice(round % 3), ...REPLICAS.slice(0, round % 3)];
        const [killed, drained, steady] = (await Promise.all(kinds.map(start))) as [Program, Program, Program];
        const balancer = new Balancer(token);
        await Promise.all([killed, drained, steady].map(({ url }) => balancer.add(url)));
        const ledger = new Ledger();
        let isOver = false;
        const load = Promise.all([ledger.write(balancer, () => isOver), ledger.read(balancer, () => isOver)]);
        const stretch = async () => {
          const enough = ledger.answered + STRETCH;
          await until(
            () => ledger.answered,
            (answered) => answered >= enough,
          );
        };
        /** Ends a server by a signal while the load goes on, and starts it again. */
        const restart = async (program: Program, kind: readonly string[] | undefined, signal: NodeJS.Signals) => {
          await stretch();
          // Without its supervisor alone, a worker would end in good order.
          if (signal === "SIGKILL") for (const pid of program.workers().values()) process.kill(pid, signal);
          const exitCode = await program.stop(signal);
          await stretch();
          balancer.remove(program.url);
          const again = await start(kind);
          await balancer.add(again.url);
          await stretch();
          return { exitCode, again };
        };

        try {
          const { again: revived } = await restart(killed, kinds[0], "SIGKILL");
          const { exitCode, again: restarted } = await restart(drained, kinds[1], "SIGTERM");
          isOver = true;
          const [, lists] = await load;

          expect(exitCode).toBe(0);
          expect([...balancer.failures.keys()]).toEqual([killed.url]);
          expect(lists).toBeGreaterThan(3);
          expect(await ledger.faults(balancer)).toEqual([]);
          expect(await ledger.askAgain(balancer)).toBeGreaterThan(0);
          expect(await ledger.faults(balancer)).toEqual([]);
          for (const program of [steady, revived, restarted]) {
            balancer.remove(program.url);
            expect(await program.stop()).toBe(0);
          }
        } finally {
          isOver = true;
        }
      },
      TIMEOUT_MS,
    );
  }
});

describe("a server that drains", () => {
  const livez = { method: "GET", path: "/livez" };

  for (const kind of [[], ["--workers", "2"]]) {
    it(
      `answers the requests that still come, on connections old and new, and asks their clients to go: ${kind}`,
      async () => {
        const program = await start(["--drain", "3s", ...kind]);
        const old = await Promise.all(Array.from({ length: 10 }, () => Connection.open(program.url)));
        for (const each of old) expect((await each.send(livez)).headers.get("connection")).toBeNull();
        program.process.kill("SIGTERM");
        await until(
          () => statusOf(`${program.url}/readyz`),
          (status) => status === 503,
        );
        const fresh = await Promise.all(Array.from({ length: 10 }, () => Connection.open(program.url)));
        for (const connection of [...old, ...fresh]) {
          const { status, headers } = await connection.send(livez);
          expect([status, headers.get("connection"), connection.isOpen]).toEqual([200, "close", false]);
        }
        expect(await program.process.exited).toBe(0);
      },
      TIMEOUT_MS,
    );
  }

  it(
    "sends a list that has begun to its end, however slowly it is read",
    async () => {
      const token = await createToken(database.url, "reader");
      await database.query(
        "INSERT INTO plants (owner, id, name) SELECT 'reader', n, repeat('🌱', 1000) FROM generate_series(1, 4000) n",
      );
      const program = await start(["--drain", "0s"]);
      const connection = await Connection.open(program.url);
      const headers = { Authorization: `Bearer ${token}` };
      const list = connection.send({ method: "GET", path: "/plants?fields=id,name", headers });
      connection.pause();
      await until(
        () => fetchMetrics(program),
        (text) => text.includes("plantstore_http_requests_pending 1"),
      );
      program.process.kill("SIGTERM");
      await until(
        () => statusOf(`${program.url}/livez`),
        (status) => status === 0,
      );
      connection.resume();
      expect(JSON.parse((await list).text)).toHaveLength(4_000);
      expect(await program.process.exited).toBe(0);
    },
    TIMEOUT_MS,
  );
});
