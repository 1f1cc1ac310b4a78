import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { PlantStoreClient } from "../../../src/client/index.ts";
import { Ledger } from "../../support/ledger.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres.ts";
import { createToken, type ServerProcess, startServerProcess } from "../../support/program.ts";
import { RecordingClient } from "../../support/recording-client.ts";
import { until } from "../../support/until.ts";

const ROUNDS = Number(process.env["PLANTSTORE_CRASH_ROUNDS"] || 2);
const TIMEOUT_MS = 60_000;
const QUERY_TIMEOUT_MS = 1_000;
/** Request timeout, and time until the first successful create after a restart, on a busy machine. */
const DEADLINE_MS = QUERY_TIMEOUT_MS + 9_000;

let postgres: PostgresServer;
let server: ServerProcess;
let token: string;
let otherToken: string;
beforeAll(async () => {
  postgres = await startPostgres();
  const database = await postgres.newDatabase();
  server = await startServerProcess(["--database", database.url, "--query-timeout", `${QUERY_TIMEOUT_MS}ms`]);
  token = await createToken(database.url, "ann");
  otherToken = await createToken(database.url, "bob");
}, TIMEOUT_MS);
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

/** Creates plants one after another until a create succeeds. */
async function firstSuccess(): Promise<void> {
  const client = new PlantStoreClient({ url: server.url, token: otherToken, attempts: 1 });
  const signal = AbortSignal.timeout(DEADLINE_MS);
  for (let id = BigInt(Date.now()); ; id++) {
    const isCreated = await client.createPlant({ id, name: "Fern" }, { signal }).then(
      () => true,
      () => signal.throwIfAborted(),
    );
    if (isCreated) return;
  }
}

describe("a server whose PostgreSQL is killed with SIGKILL under load", () => {
  const ledger = new Ledger();

  for (let round = 1; round <= ROUNDS; round++) {
    it(
      `loses no acknowledged write and recovers when PostgreSQL restarts, round ${round}`,
      async () => {
        const recorder = new RecordingClient({ url: server.url, token }, DEADLINE_MS);
        let isOver = false;
        const load = Promise.all([ledger.write(recorder, () => isOver), ledger.read(recorder, () => isOver)]);
        try {
          const enough = ledger.acknowledged + 500 + Math.floor(Math.random() * 2_000);
          await until(() => ledger.acknowledged >= enough && recorder.lists > 0);
          postgres.kill("SIGKILL");
          await until(() => recorder.rejections.writes > 24 && recorder.rejections.lists > 0);

          await postgres.restart();
          const restartedMs = performance.now();
          await firstSuccess();
          if ("PLANTSTORE_CRASH_ROUNDS" in process.env) {
            const { writes, lists } = recorder.rejections;
            const sinceMs = Math.round(performance.now() - restartedMs);
            console.log(`round ${round}: first create succeeded ${sinceMs} ms after the restart; until then`);
            console.log(
              `  503 to ${writes} writes and ${lists} lists, ${ledger.acknowledged} acknowledged writes in the ledger`,
            );
          }
        } finally {
          isOver = true;
        }
        await load;
        expect(recorder.failures).toEqual([]);
        expect(await ledger.violations(recorder)).toEqual([]);
        expect(await ledger.retryUnacknowledged(recorder)).toBeGreaterThan(0);
        expect(await ledger.violations(recorder)).toEqual([]);
      },
      TIMEOUT_MS,
    );
  }
});
