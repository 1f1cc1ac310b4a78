import { afterAll, describe, expect, it } from "bun:test";
import { join } from "node:path";
import { PlantStoreClient, PlantStoreError } from "../src/client/index.ts";
import type { NewPlant, PlantId } from "../src/domain/plant.ts";
import type { Storage } from "../src/storage/storage.ts";
import { createToken, startProgram } from "./support/program.ts";
import { startService, temporaryFolder } from "./support/service.ts";

const ROUNDS = Number(process.env["PLANTSTORE_CRASH_ROUNDS"] || 20);
const ROUND_TIMEOUT_MS = 60_000;
const WRITERS = 24;
/** A writer's own ids begin at a multiple of this. */
const IDS_A_WRITER = 1_000_000n;

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** What a writer knows of a plant: answered for, or asked for without an answer. */
type State = "created" | "deleted" | "maybe created" | "maybe deleted";

interface Entry {
  readonly plant: NewPlant;
  readonly key: string;
  state: State;
}

/** What was asked of a server and what it has answered. */
class Ledger {
  readonly entries = new Map<PlantId, Entry>();
  answered = 0;
  readonly #refusals: string[] = [];
  readonly #nextIds = Array.from({ length: WRITERS }, (_, n) => BigInt(n - WRITERS / 2) * IDS_A_WRITER);

  /** Creates and deletes by several writers at once, until `hasEnough` holds or the server is gone. */
  async write(client: PlantStoreClient, hasEnough: () => boolean): Promise<void> {
    await Promise.all(
      this.#nextIds.map(async (_, writer) => {
        while (!hasEnough() && (await this.#createOne(client, writer)) && (await this.#deleteSome(client, writer)));
      }),
    );
  }

  async #createOne(client: PlantStoreClient, writer: number): Promise<boolean> {
    const id = this.#nextIds[writer] as PlantId;
    this.#nextIds[writer] = id + 1n;
    const plant = { id, name: `${id} `.repeat(40), ...(id % 3n === 0n ? {} : { tag: id % 3n === 1n ? "" : `${id}` }) };
    const entry: Entry = { plant, key: `key-${id}`, state: "maybe created" };
    this.entries.set(id, entry);
    return this.#settle(entry, "created", () => client.createPlant(plant, { idempotencyKey: entry.key }));
  }

  /** Every third plant goes again, a little after it came. */
  async #deleteSome(client: PlantStoreClient, writer: number): Promise<boolean> {
    const entry = this.entries.get((this.#nextIds[writer] as PlantId) - 5n);
    if (entry?.state !== "created" || entry.plant.id % 3n !== 0n) return true;
    entry.state = "maybe deleted";
    return this.#settle(entry, "deleted", () => client.deletePlant(entry.plant.id));
  }

  async #settle(entry: Entry, state: State, ask: () => Promise<unknown>): Promise<boolean> {
    try {
      await ask();
    } catch (error) {
      const isRefused = error instanceof PlantStoreError && error.status < 500;
      if (isRefused) this.#refusals.push(`${entry.plant.id} is lost or refused: ${error.message}`);
      return isRefused;
    }
    entry.state = state;
    this.answered++;
    return true;
  }

  /** Where a server's plants and this ledger disagree. */
  async faults(client: PlantStoreClient): Promise<string[]> {
    const faults = [...this.#refusals];
    const found = new Map<PlantId, NewPlant>();
    for await (const plant of client.listPlants({ limit: 5_000 })) {
      if (found.has(plant.id)) faults.push(`${plant.id} is listed twice`);
      if (!this.entries.has(plant.id)) faults.push(`${plant.id} was never asked for`);
      found.set(plant.id, plant);
    }
    for (const { plant, state } of this.entries.values()) {
      const kept = found.get(plant.id);
      if (kept === undefined && state === "created") faults.push(`${plant.id} is lost`);
      if (kept !== undefined && state === "deleted") faults.push(`${plant.id} is back`);
      if (kept !== undefined && !Bun.deepEquals(kept, plant, true)) faults.push(`${plant.id} is not whole`);
    }
    return faults;
  }

  /** Asks again whatever has no answer; resolves with how many that were. */
  async askAgain(client: PlantStoreClient): Promise<number> {
    const unknown = [...this.entries.values()].filter(({ state }) => state.startsWith("maybe"));
    for (const entry of unknown) {
      if (entry.state === "maybe created") {
        await client.createPlant(entry.plant, { idempotencyKey: entry.key });
        entry.state = "created";
      } else {
        await client.deletePlant(entry.plant.id).catch((error: PlantStoreError) => {
          if (error.code !== "plant_not_found") throw error;
        });
        entry.state = "deleted";
      }
    }
    return unknown.length;
  }
}

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
          return false;
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

describe("the ledger", () => {
  /** A storage that does one write in a hundred as `change` says. */
  function unreliable(storage: Storage, change: Partial<Storage>): Storage {
    let count = 0;
    return new Proxy(storage, {
      get(target, name: keyof Storage) {
        const isWrong = change[name] !== undefined && ++count % 100 === 0;
        return ((isWrong ? change[name] : target[name]) as () => unknown).bind(target);
      },
    });
  }

  const lies: [what: string, change: (storage: Storage) => Partial<Storage>, fault: RegExp][] = [
    ["creates that are answered but not stored", () => ({ insertPlant: async () => "inserted" }), /is lost/],
    ["deletes that are answered but not done", () => ({ removePlant: async () => true }), /is back/],
    [
      "plants that are stored in part",
      (storage) => ({ insertPlant: (owner, { id }, key) => storage.insertPlant(owner, { id, name: "?" }, key) }),
      /is not whole/,
    ],
  ];
  for (const [what, change, fault] of lies) {
    it(`notices ${what}`, async () => {
      const service = await startService({ wrap: (storage) => unreliable(storage, change(storage)) });
      const client = new PlantStoreClient({ url: service.url, token: await service.token(), attempts: 1 });
      const ledger = new Ledger();
      await ledger.write(client, () => ledger.answered >= 2_000);
      const faults = await ledger.faults(client);
      expect(faults.length).toBeGreaterThan(0);
      for (const each of faults) expect(each).toMatch(fault);
      await service.stop();
    });
  }
});
