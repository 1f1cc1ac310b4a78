import { describe, expect, it } from "bun:test";
import { PlantStoreClient } from "../../src/client/index.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { Ledger } from "./ledger.ts";
import { startService } from "./service.ts";

describe("Ledger", () => {
  /** A storage that replaces one write in a hundred. */
  function unreliable(storage: Storage, change: Partial<Storage>): Storage {
    let count = 0;
    return new Proxy(storage, {
      get(target, name: keyof Storage) {
        const isWrong = change[name] !== undefined && ++count % 100 === 0;
        return ((isWrong ? change[name] : target[name]) as () => unknown).bind(target);
      },
    });
  }

  const defects: [name: string, change: (storage: Storage) => Partial<Storage>, violation: RegExp][] = [
    [
      "creates that are acknowledged but not stored",
      () => ({ insertPlant: async () => "inserted" }),
      /is lost|created twice/,
    ],
    ["deletes that are acknowledged but not done", () => ({ deletePlant: async () => true }), /is back/],
    [
      "a duplicate id error for an unused id",
      () => ({ insertPlant: async () => "taken" }),
      /was rejected by every create/,
    ],
    [
      "incomplete plants",
      (storage) => ({ insertPlant: (owner, { id }, key) => storage.insertPlant(owner, { id, name: "?" }, key) }),
      /is incomplete/,
    ],
  ];
  for (const [name, change, violation] of defects) {
    it(`reports ${name}`, async () => {
      const service = await startService({ wrap: (storage) => unreliable(storage, change(storage)) });
      const client = new PlantStoreClient({ url: service.url, token: await service.token(), attempts: 1 });
      const ledger = new Ledger();
      await ledger.write(client, () => ledger.acknowledged >= 2_000);
      const violations = await ledger.violations(client);
      expect(violations.length).toBeGreaterThan(0);
      for (const each of violations) expect(each).toMatch(violation);
      await service.stop();
    });
  }

  it("reports lists that lack a plant", async () => {
    let isOver = false;
    const service = await startService({
      wrap: (storage) => {
        const defect: Partial<Storage> = {
          selectPlants: async (...args) => (await storage.selectPlants(...args)).slice(1),
        };
        return new Proxy(storage, {
          get: (target, name: keyof Storage) =>
            ((isOver ? undefined : defect[name]) ?? (target[name] as () => unknown)).bind(target),
        });
      },
    });
    const client = new PlantStoreClient({ url: service.url, token: await service.token(), attempts: 1 });
    const ledger = new Ledger();
    const hasEnough = () => ledger.acknowledged >= 2_000;
    await Promise.all([ledger.read(client, hasEnough), ledger.write(client, hasEnough)]);
    expect(ledger.lists).toBeGreaterThan(0);
    isOver = true;
    const violations = await ledger.violations(client);
    expect(violations.length).toBeGreaterThan(0);
    for (const each of violations) expect(each).toMatch(/is missing in a later list/);
    await service.stop();
  });
});
