import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { PlantStoreClient } from "../../src/client/index.ts";
import { ID_MAX, ID_MIN } from "../../src/domain/plant.ts";
import { findFreeId, randomId } from "../../src/web/free-id.ts";
import { insertPlants, newOwner, type Service, startService } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const { signal } = new AbortController();

describe("findFreeId", () => {
  it.each<[ids: bigint[], expected: bigint]>([
    [[], 1n],
    [[ID_MIN, -5n], 1n],
    [[0n], 1n],
    [[1n], 2n],
    [[1n, 2n, 3n, 900n], 901n],
    [[2n ** 53n], 2n ** 53n + 1n],
    [[5n, ID_MAX - 1n], ID_MAX],
  ])("returns the id after the greatest of %p", async (ids, expected) => {
    const owner = newOwner();
    await insertPlants(
      service,
      owner,
      ids.map((id) => ({ id, name: "x" })),
    );
    const client = new PlantStoreClient({ url: service.url, token: await service.token({ owner }) });
    for (const lowerBound of [ID_MIN, 0n, ...ids]) expect(await findFreeId(client, lowerBound, signal)).toBe(expected);
  });

  it("returns a random id when the greatest is ID_MAX", async () => {
    const owner = newOwner();
    await insertPlants(service, owner, [{ id: ID_MAX, name: "x" }]);
    const client = new PlantStoreClient({ url: service.url, token: await service.token({ owner }) });
    for (const lowerBound of [0n, ID_MAX]) {
      const id = await findFreeId(client, lowerBound, signal);
      expect(id > 0n && id <= 2n ** 32n).toBe(true);
    }
    expect(new Set(Array.from({ length: 100 }, randomId)).size).toBe(100);
  });
});
