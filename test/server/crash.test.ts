import { afterAll, describe, expect, it } from "bun:test";
import { join } from "node:path";
import { PlantStoreClient } from "../../src/client/index.ts";
import { Ledger } from "../support/ledger.ts";
import { createToken, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const ROUNDS = Number(process.env["PLANTSTORE_CRASH_ROUNDS"] || 20);
const ROUND_TIMEOUT_MS = 60_000;

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe("kill -9 in the middle of many writes", () => {
  const ledger = new Ledger();
  const database = join(folder.path, "plants.db");

  for (let round = 1; round <= ROUNDS; round++) {
    it(
      `loses nothing that was answered and leaves nothing half done, round ${round}`,
      async () => {
        const token = await createToken(`sqlite:${database}`, "ann");
        const program = await startProgram(["--database", `sqlite:${database}`]);
        const enough = ledger.answered + 100 + Math.floor(Math.random() * 1_000);
        let isKilled = false;
        await ledger.write(new PlantStoreClient({ url: program.url, token, attempts: 1 }), () => {
          if (ledger.answered >= enough && !isKilled) {
            isKilled = true;
            program.process.kill("SIGKILL");
          }
          return isKilled;
        });
        await program.process.exited;
        expect(program.process.signalCode).toBe("SIGKILL");

        const again = await startProgram(["--database", `sqlite:${database}`, "--drain", "0s"]);
        const client = new PlantStoreClient({ url: again.url, token });
        expect(await ledger.faults(client)).toEqual([]);
        expect(await ledger.askAgain(client)).toBeGreaterThan(0);
        expect(await ledger.faults(client)).toEqual([]);
        expect(await again.stop()).toBe(0);
      },
      ROUND_TIMEOUT_MS,
    );
  }
});
