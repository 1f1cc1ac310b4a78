import { afterAll, describe, expect, it } from "bun:test";
import { join } from "node:path";
import { PlantStoreClient } from "../../src/client/index.ts";
import { Ledger } from "../support/ledger.ts";
import { createToken } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";

const ROUNDS = Number(process.env["PLANTSTORE_CRASH_ROUNDS"] || 20);
const ROUND_TIMEOUT_MS = 60_000;

const folder = temporaryFolder();
afterAll(() => folder.remove());

const start = useServerProcesses();

describe("SIGKILL during concurrent writes", () => {
  const ledger = new Ledger();
  let unacknowledged = 0;
  const database = `sqlite:${join(folder.path, "plants.db")}`;

  for (let round = 1; round <= ROUNDS; round++) {
    it(
      `loses no acknowledged write and leaves no partial one, round ${round}`,
      async () => {
        const token = await createToken(database, "ann");
        const server = await start(["--database", database]);
        const enough = ledger.acknowledged + 100 + Math.floor(Math.random() * 1_000);
        let isKilled = false;
        const client = new PlantStoreClient({ url: server.url, token, attempts: 1 });
        await ledger.write(client, () => {
          if (ledger.acknowledged >= enough && !isKilled) {
            isKilled = true;
            server.process.kill("SIGKILL");
          }
          return isKilled;
        });
        await server.process.exited;
        expect(server.process.signalCode).toBe("SIGKILL");

        const restarted = await start(["--database", database, "--drain", "0s"]);
        const secondClient = new PlantStoreClient({ url: restarted.url, token });
        expect(await ledger.violations(secondClient)).toEqual([]);
        unacknowledged += await ledger.retryUnacknowledged(secondClient);
        expect(await ledger.violations(secondClient)).toEqual([]);
        expect(await restarted.stop()).toBe(0);
      },
      ROUND_TIMEOUT_MS,
    );
  }

  // One batch acknowledges many writes at once, so a single kill may find none in progress.
  it("interrupts writes in some round", () => {
    expect(unacknowledged).toBeGreaterThan(0);
  });
});
