import { describe, expect, it } from "bun:test";
import { PlantStoreClient } from "../../src/client/index.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { Ledger } from "./ledger.ts";
import { startService } from "./service.ts";

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
    [
      "creates that are answered but not stored",
      () => ({ insertPlant: async () => "inserted" }),
      /is lost|created twice/,
    ],
    ["deletes that are answered but not done", () => ({ removePlant: async () => true }), /is back/],
    ["a plant whose id was given away already", () => ({ insertPlant: async () => "taken" }), /was refused to all/],
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

  it("notices lists that leave something out", async () => {
    let isOver = false;
    const service = await startService({
      wrap: (storage) => {
        const lie: Partial<Storage> = {
          selectPlants: async (...what) => (await storage.selectPlants(...what)).slice(1),
        };
        return new Proxy(storage, {
          get: (target, name: keyof Storage) =>
            ((isOver ? undefined : lie[name]) ?? (target[name] as () => unknown)).bind(target),
        });
      },
    });
    const client = new PlantStoreClient({ url: service.url, token: await service.token(), attempts: 1 });
    const ledger = new Ledger();
    const hasEnough = () => ledger.answered >= 2_000;
    expect((await Promise.all([ledger.read(client, hasEnough), ledger.write(client, hasEnough)]))[0]).toBeGreaterThan(
      0,
    );
    isOver = true;
    const faults = await ledger.faults(client);
    expect(faults.length).toBeGreaterThan(0);
    for (const each of faults) expect(each).toMatch(/is missing in a later list/);
    await service.stop();
  });
});
