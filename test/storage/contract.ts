import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { ID_MAX, ID_MIN, NAME_MAX_LENGTH, type Plant, TAG_MAX_LENGTH } from "../../src/domain/plant.ts";
import { SCOPES, type Token } from "../../src/domain/token.ts";
import type { InsertOutcome, Storage, StoredPlant } from "../../src/storage/storage.ts";
import { newOwner } from "../support/service.ts";

/** A new, empty database for one test. */
export interface TestDatabase {
  /** Opens another connection, as another process would. The caller closes it. */
  connect(): Promise<Storage>;
  /** Removes the database. */
  remove(): Promise<void>;
}

const TIMEOUT_MS = 30_000;

const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);

/** Tests that each engine must pass: the contract in `src/storage/storage.ts`. */
export function describeStorage(name: string, open: () => Promise<TestDatabase>): void {
  describe(name, () => {
    let database: TestDatabase;
    let storage: Storage;
    beforeAll(async () => {
      database = await open();
      storage = await database.connect();
    });
    afterAll(async () => {
      await storage.close();
      await database.remove();
    });

    const all = (owner: string, range = {}) => storage.selectPlants(owner, { limit: 10_000, ...range });
    const insertAll = (owner: string, plants: readonly Plant[]) =>
      Promise.all(plants.map((plant) => storage.insertPlant(owner, plant, undefined)));

    describe("version", () => {
      it("changes before a write to the owner's plants is acknowledged, or is always undefined", async () => {
        const [owner, other] = [newOwner(), newOwner()];
        const changes = [
          () => storage.insertPlant(owner, { id: 1n, name: "Sage" }, undefined),
          () => storage.deletePlant(owner, 1n),
        ];
        for (const change of changes) {
          const [before, elsewhere] = [storage.version(owner), storage.version(other)];
          await change();
          if (before === undefined) expect(storage.version(owner)).toBeUndefined();
          else expect(storage.version(owner)).not.toBe(before);
          expect(storage.version(other)).toBe(elsewhere);
        }
      });
    });

    describe("insertPlant", () => {
      it("returns inserted, repeated or taken depending on key, name and tag", async () => {
        const creates = [undefined, "k", "K"].flatMap((key) =>
          ["Fern", "fern"].flatMap((name) =>
            [{}, { tag: "" }, { tag: "x" }, { tag: "X" }].map((tag) => ({ key, plant: { id: 7n, name, ...tag } })),
          ),
        );
        const pairs = creates.flatMap((first) => creates.map((second) => ({ first, second })));
        await Promise.all(
          pairs.map(async ({ first, second }) => {
            const owner = newOwner();
            expect(await storage.insertPlant(owner, first.plant, first.key)).toBe("inserted");
            const isSame = first === second && first.key !== undefined;
            const outcome = await storage.insertPlant(owner, second.plant, second.key);
            expect({ first, second, outcome }).toEqual({ first, second, outcome: isSame ? "repeated" : "taken" });
            expect(await all(owner)).toStrictEqual([first.plant]);
          }),
        );
      });

      it("forgets the idempotency key of a removed plant", async () => {
        const owner = newOwner();
        const create = () => storage.insertPlant(owner, { id: 1n, name: "Sage" }, "k");
        expect([await create(), await create()]).toEqual(["inserted", "repeated"]);
        await storage.deletePlant(owner, 1n);
        expect([await create(), await create()]).toEqual(["inserted", "repeated"]);
      });

      it("accepts the same idempotency key for other ids and other owners", async () => {
        const [owner, other] = [newOwner(), newOwner()];
        const outcomes = [
          await storage.insertPlant(owner, { id: 1n, name: "Sage" }, "k"),
          await storage.insertPlant(owner, { id: 2n, name: "Sage" }, "k"),
          await storage.insertPlant(other, { id: 1n, name: "Sage" }, "k"),
        ];
        expect(outcomes).toEqual(["inserted", "inserted", "inserted"]);
      });

      it("stores exactly one of many concurrent creates with the same id, completely", async () => {
        const owner = newOwner();
        const plants = Array.from({ length: 200 }, (_, n) => ({ id: 1n, name: `name ${n}`, tag: `tag ${n}` }));
        const outcomes = await Promise.all(plants.map((plant) => storage.insertPlant(owner, plant, plant.name)));
        const winners = plants.filter((_, n) => outcomes[n] === "inserted");
        expect(winners).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === "taken")).toHaveLength(199);
        expect(await all(owner)).toStrictEqual(winners);
      });

      it("returns inserted for one of many concurrent repeats of a create, and repeated for the others", async () => {
        const owner = newOwner();
        const outcomes = await Promise.all(
          Array.from({ length: 50 }, () => storage.insertPlant(owner, { id: 1n, name: "Sage", tag: "" }, "k")),
        );
        expect(outcomes.sort()).toEqual(["inserted", ...Array<InsertOutcome>(49).fill("repeated")]);
      });
    });

    describe("deletePlant", () => {
      it("returns false for a missing plant, another owner's plant and a plant that is already deleted", async () => {
        const [owner, other] = [newOwner(), newOwner()];
        await insertAll(owner, [{ id: 5n, name: "Iris" }]);
        expect(await storage.deletePlant(owner, 6n)).toBe(false);
        expect(await storage.deletePlant(other, 5n)).toBe(false);
        expect(await all(owner)).toStrictEqual([{ id: 5n, name: "Iris" }]);
        expect(await storage.deletePlant(owner, 5n)).toBe(true);
        expect(await storage.deletePlant(owner, 5n)).toBe(false);
        expect(await all(owner)).toEqual([]);
      });

      it("returns true for exactly one of many concurrent deletions of a plant", async () => {
        const owner = newOwner();
        await insertAll(owner, [{ id: ID_MIN, name: "Iris" }]);
        const deletions = await Promise.all(Array.from({ length: 50 }, () => storage.deletePlant(owner, ID_MIN)));
        expect(deletions.filter(Boolean)).toHaveLength(1);
      });
    });

    describe("selectPlants", () => {
      const ids = [ID_MIN, ID_MIN + 1n, -(2n ** 53n) - 1n, -10n, -9n, -1n, 0n, 1n, 9n, 10n, 2n ** 53n + 1n, ID_MAX];
      const plants = ids.map((id, n) => ({ id, name: `plant ${id}`, ...(n % 2 === 0 ? { tag: "even" } : {}) }));
      const owner = newOwner();
      beforeAll(() => insertAll(owner, shuffled(plants)));

      it("returns all ids exactly and in numeric order, and no tag for plants without one", async () => {
        expect(await all(owner)).toStrictEqual(plants);
      });

      it("starts after any id, even if no plant has it", async () => {
        for (const after of [...ids, ID_MIN + 2n, -2n, 2n ** 53n, ID_MAX - 1n]) {
          const rest = plants.filter(({ id }) => id > after);
          expect(await all(owner, { after })).toStrictEqual(rest);
          expect(await all(owner, { after, tag: "even" })).toStrictEqual(rest.filter(({ tag }) => tag === "even"));
        }
      });

      it("returns at most limit plants", async () => {
        for (const limit of [1, 2, ids.length - 1, ids.length, ids.length + 1, 2_147_483_647]) {
          expect(await all(owner, { limit })).toStrictEqual(plants.slice(0, limit));
          expect(await all(owner, { limit, after: -10n })).toStrictEqual(plants.slice(4, 4 + limit));
        }
        expect(await all(owner, { tag: "even", limit: 1 })).toStrictEqual(plants.slice(0, 1));
      });

      it("compares tags exactly", async () => {
        const own = newOwner();
        const tags = ["", "a", "A", "\u00e1", "a\u0301", " ", "a ", "%", "_", "\u{1f33f}", "x".repeat(TAG_MAX_LENGTH)];
        const tagged = tags.map((tag, n) => ({ id: BigInt(n), name: "Fern", tag }));
        await insertAll(own, [...tagged, { id: 99n, name: "Fern" }]);
        for (const plant of tagged) expect(await all(own, { tag: plant.tag })).toStrictEqual([plant]);
        expect(await all(own, { tag: "b" })).toEqual([]);
        expect(await all(own)).toHaveLength(tags.length + 1);
      });

      it("separates owners with similar names", async () => {
        const base = newOwner();
        const owners = [`${base}\u00e1`, `${base}a\u0301`, `${base}a`, `${base}A`, `${base}a `, `${base}%`];
        await Promise.all(owners.map((each) => storage.insertPlant(each, { id: 1n, name: each }, "k")));
        for (const each of owners) expect(await all(each)).toStrictEqual([{ id: 1n, name: each }]);
        expect(await all(base)).toEqual([]);
      });

      it("returns every text unchanged", async () => {
        const own = newOwner();
        const texts = [
          "\u2028 \u2029",
          "Ame\u0301lie",
          "Am\u00e9lie",
          "\u{1f331}\u200d\u{1f33c}",
          "\ufeffmark",
          "\uffff",
        ];
        texts.push("\u{10ffff}", "\u0001\u001f", " spaced\t", "a\r\nb", `"'\\`, "null", "\u202eabc", "0", "1e3");
        texts.push("\u{1f33f}".repeat(1024), "\\u0000", "x'00'", "\u00df\u1e9e", "\u0130\u0131");
        const stored = texts.map((text, n) => ({ id: BigInt(n), name: text, tag: [...text].slice(0, 255).join("") }));
        await insertAll(own, stored);
        expect(await all(own)).toStrictEqual(stored);
        for (const plant of stored) expect(await all(own, { tag: plant.tag })).toStrictEqual([plant]);
      });
    });

    describe("selectPlants with maxCharacters", () => {
      it.each([
        ["ASCII", "x"],
        ["three bytes per character", "日"],
        ["four bytes per character", "🌱"],
      ])("returns few more characters, and skips no plant: %s", async (_, character) => {
        const owner = newOwner();
        const name = character.repeat(NAME_MAX_LENGTH);
        const ids = Array.from({ length: 300 }, (_, n) => BigInt(n));
        await Promise.all(ids.map((id) => storage.insertPlant(owner, { id, name, tag: "t" }, undefined)));
        const maxCharacters = 50 * name.length;
        for (const tag of [undefined, "t"]) {
          const read: bigint[] = [];
          while (read.length < ids.length) {
            const range = await storage.selectPlants(owner, { after: read.at(-1), tag, limit: 301, maxCharacters });
            expect(range.length).toBeLessThanOrEqual(152);
            read.push(...range.map(({ id }) => id));
          }
          expect(read).toEqual(ids);
        }
        expect(await storage.selectPlants(owner, { limit: 3, maxCharacters: 1 })).not.toBeEmpty();
      });

      it("returns all plants up to the limit when they have fewer characters", async () => {
        const owner = newOwner();
        const ids = Array.from({ length: 200 }, (_, n) => BigInt(n));
        await Promise.all(ids.map((id) => storage.insertPlant(owner, { id, name: "x" }, undefined)));
        expect(await storage.selectPlants(owner, { limit: 300, maxCharacters: 200 })).toHaveLength(200);
      });
    });

    describe("selectStoredPlants", () => {
      // In code point order, which differs from UTF-16 order and from the order of locales.
      const owners = [
        "A",
        "A ",
        "Aa",
        "B",
        "a",
        "a\u0301",
        "a\u{1f33f}",
        "b",
        "\u00e1",
        "\uff21",
        "\uffff",
        "\u{10000}",
      ];
      const ids = [ID_MIN, -1n, 0n, 2n ** 53n + 1n, ID_MAX];
      const stored = owners.flatMap((owner, n) =>
        ids.map((id, m) => ({
          owner,
          id,
          name: `${owner} ${id}`,
          ...((n + m) % 3 === 0 ? {} : { tag: (n + m) % 3 === 1 ? "" : `tag ${m}` }),
          idempotencyKey: m % 2 === 0 ? undefined : `key ${n}`,
        })),
      );
      let own: TestDatabase;
      let full: Storage;
      beforeAll(async () => {
        own = await open();
        full = await own.connect();
        await Promise.all(
          shuffled(stored).map(({ owner, idempotencyKey, ...plant }) => full.insertPlant(owner, plant, idempotencyKey)),
        );
      });
      afterAll(async () => {
        await full.close();
        await own.remove();
      });

      it("returns all stored columns of every plant, ordered by owner and id, with any limit", async () => {
        for (const limit of [1, 2, 4, 5, 6, 7, stored.length, 10_000]) {
          const found: StoredPlant[] = [];
          for (let length = limit; length === limit && found.length <= stored.length; ) {
            const chunk = await full.selectStoredPlants(found.at(-1), limit);
            ({ length } = chunk);
            found.push(...chunk);
          }
          expect(found).toStrictEqual(stored);
        }
      });

      it("starts after any owner and id, even if no plant has them", async () => {
        for (const [n, { owner, id }] of stored.entries()) {
          expect(await full.selectStoredPlants({ owner, id }, 3)).toStrictEqual(stored.slice(n + 1, n + 4));
        }
        const rest = stored.slice(stored.findIndex(({ owner }) => owner === "B"));
        expect(await full.selectStoredPlants({ owner: "Ab", id: 5n }, 99)).toStrictEqual(rest);
        expect(await full.selectStoredPlants({ owner: "B", id: 5n }, 99)).toStrictEqual(rest.slice(3));
        expect(await full.selectStoredPlants({ owner: "\u{10ffff}", id: 5n }, 99)).toEqual([]);
      });
    });

    describe("concurrent writes and reads", () => {
      it(
        "return the result of each write to its caller",
        async () => {
          const owner = newOwner();
          const ids = Array.from({ length: 900 }, (_, n) => BigInt(n));
          await insertAll(
            owner,
            ids.filter((id) => id % 3n !== 0n).map((id) => ({ id, name: "old" })),
          );
          const writes = shuffled(ids).map(async (id) => {
            if (id % 3n === 1n) return { id, outcome: await storage.deletePlant(owner, id) };
            return { id, outcome: await storage.insertPlant(owner, { id, name: "new" }, undefined) };
          });
          const extra = shuffled(ids).map((id) => storage.deletePlant(owner, id + 10_000n));
          const outcomes: readonly (InsertOutcome | boolean)[] = ["inserted", true, "taken"];
          for (const { id, outcome } of await Promise.all(writes))
            expect(outcome).toBe(outcomes[Number(id) % 3] ?? false);
          expect((await Promise.all(extra)).some(Boolean)).toBe(false);
          const left = ids.filter((id) => id % 3n !== 1n);
          expect(await all(owner)).toStrictEqual(left.map((id) => ({ id, name: id % 3n === 0n ? "new" : "old" })));
        },
        TIMEOUT_MS,
      );

      it("return every acknowledged write on every connection", async () => {
        const owner = newOwner();
        const other = await database.connect();
        for (let n = 0n; n < 30n; n++) {
          const plant = { id: n, name: `plant ${n}` };
          await storage.insertPlant(owner, plant, undefined);
          for (const reader of [storage, other]) {
            expect(await reader.selectPlants(owner, { limit: 9 })).toStrictEqual([plant]);
          }
          expect(await other.deletePlant(owner, n)).toBe(true);
          for (const reader of [storage, other]) expect(await reader.selectPlants(owner, { limit: 9 })).toEqual([]);
        }
        await other.close();
      });
    });

    describe("tokens", () => {
      const minimal = (digest: string): Token => ({ digest, owner: "ann", scopes: SCOPES, createdAt: 1_000 });
      async function withTokens(use: (tokens: Storage, connect: () => Promise<Storage>) => Promise<void>) {
        const own = await open();
        const opened = [await own.connect()];
        const connect = async () => {
          const another = await own.connect();
          opened.push(another);
          return another;
        };
        await use(opened[0] as Storage, connect);
        await Promise.all(opened.map((each) => each.close()));
        await own.remove();
      }

      it("are returned unchanged, oldest first; an unknown digest returns undefined", () =>
        withTokens(async (tokens) => {
          const young = { ...minimal("aa"), createdAt: 2_000, label: "\u{1f33f} caf\u00e9", expiresAt: 2 ** 45 };
          const old: Token = { ...minimal("bb"), scopes: ["plants:read"], lastUsedAt: 7, revokedAt: 0 };
          await tokens.insertToken(young);
          await tokens.insertToken(old);
          expect(await tokens.selectToken("AA")).toBeUndefined();
          expect(await tokens.selectToken("aa")).toEqual(young);
          expect(await tokens.selectToken("bb")).toEqual(old);
          expect(await tokens.selectTokens()).toEqual([old, young]);
        }));

      it("include exactly one of many concurrent first tokens, on several connections", () =>
        withTokens(async (tokens, connect) => {
          const connections = [tokens, await connect(), await connect()];
          const firsts = await Promise.all(
            Array.from({ length: 30 }, async (_, n) => {
              const isFirst = await (connections[n % 3] as Storage).insertFirstToken(minimal(`${n}`));
              return isFirst ? [`${n}`] : [];
            }),
          );
          expect(firsts.flat()).toHaveLength(1);
          expect((await tokens.selectTokens()).map(({ digest }) => digest)).toEqual(firsts.flat());
        }));

      it("reject a first token when a revoked token exists", () =>
        withTokens(async (tokens) => {
          await tokens.insertToken(minimal("aa"));
          await tokens.revokeToken("aa", 5);
          expect(await tokens.insertFirstToken(minimal("bb"))).toBe(false);
          expect(await tokens.selectTokens()).toEqual([{ ...minimal("aa"), revokedAt: 5 }]);
        }));

      it("are revoked once on all connections, with the time of the first revocation", () =>
        withTokens(async (tokens, connect) => {
          await Promise.all([tokens.insertToken(minimal("aa")), tokens.insertToken(minimal("bb"))]);
          expect(await tokens.revokeToken("cc", 1)).toBe(false);
          expect(await tokens.revokeToken("aa", 2)).toBe(true);
          expect(await tokens.revokeToken("aa", 3)).toBe(false);
          expect(await (await connect()).selectToken("aa")).toEqual({ ...minimal("aa"), revokedAt: 2 });
          expect(await tokens.selectToken("bb")).toEqual(minimal("bb"));
        }));

      it("record their last use, ignoring unknown digests", () =>
        withTokens(async (tokens) => {
          await tokens.insertToken(minimal("aa"));
          await tokens.insertToken(minimal("bb"));
          await tokens.recordLastUses(new Map());
          const now = 1_763_600_000_123;
          await tokens.recordLastUses(new Map(["unknown", "aa"].map((digest) => [digest, now])));
          expect(await tokens.selectTokens()).toEqual([{ ...minimal("aa"), lastUsedAt: now }, minimal("bb")]);
        }));
    });

    it("responds to a ping", async () => expect(await storage.ping()).toBeUndefined());

    it(
      "completes all accepted writes before it closes",
      async () => {
        const own = await open();
        const closing = await own.connect();
        const ids = Array.from({ length: 3_000 }, (_, n) => BigInt(n));
        const writes = ids.map((id) => closing.insertPlant("ann", { id, name: "Fern" }, undefined));
        await closing.close();
        expect(new Set(await Promise.all(writes))).toEqual(new Set(["inserted"]));
        const reader = await own.connect();
        expect((await reader.selectPlants("ann", { limit: 9_999 })).map(({ id }) => id)).toEqual(ids);
        await reader.close();
        await own.remove();
      },
      TIMEOUT_MS,
    );
  });
}
