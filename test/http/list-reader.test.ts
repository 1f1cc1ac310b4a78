import { describe, expect, it } from "bun:test";
import { App } from "../../src/app.ts";
import type { ListQuery } from "../../src/domain/list-query.ts";
import { NAME_MAX_LENGTH, type Plant } from "../../src/domain/plant.ts";
import { type Chunk, MAX_CHUNK_BYTES, readChunks } from "../../src/http/list-reader.ts";
import { ListScheduler } from "../../src/http/list-scheduler.ts";
import type { Storage } from "../../src/storage/storage.ts";

/** Opens endless lists of plants with one name. `owners` records the owner of each chunk in the order of the reads. */
function startLists(name = "x") {
  const owners: string[] = [];
  const app = new App({
    async selectPlants(owner, { after = 0n, limit }) {
      owners.push(owner);
      return Array.from({ length: limit }, (_, n) => ({ id: after + BigInt(n) + 1n, name }));
    },
  } as Storage);
  const scheduler = new ListScheduler();
  return { owners, open: (owner: string, query: ListQuery = {}) => readChunks(app, scheduler, owner, query) };
}

/** Reads this many chunks. */
async function take(list: AsyncGenerator<Chunk>, count: number): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  while (chunks.length < count) chunks.push((await list.next()).value);
  return chunks;
}

const idsIn = ({ json }: Chunk) => (JSON.parse(`[${json}]`) as { id: number }[]).map(({ id }) => id);

describe("concurrent lists", () => {
  it("read 20 consecutive chunks each in rotation, after their first chunk", async () => {
    const { owners, open } = startLists();
    const lists = ["ann", "bob", "eve"];
    await Promise.all(
      lists.map(async (owner) => {
        await take(open(owner), 61);
      }),
    );
    const rounds = Array.from({ length: 3 }, () => lists.flatMap((owner) => Array<string>(20).fill(owner)));
    expect(owners).toEqual([...lists, ...rounds.flat()]);
  });

  it("complete pages with a limit in the order in which they began", async () => {
    const { owners, open } = startLists();
    const completed: number[] = [];
    const pages = Array.from({ length: 10 }, async (_, n) => {
      await Array.fromAsync(open("page", { limit: 1_000 }));
      completed.push(n);
    });
    await Promise.all([...pages, take(open("list"), 2)]);
    expect(completed).toEqual([...Array(10).keys()]);
    expect(owners.slice(0, 11)).toEqual([...Array<string>(10).fill("page"), "list"]);
  });
});

describe("the chunks of a list", () => {
  it.each(["x", "\u{1f33f}", "\u0001"])(
    "are at most 64 KiB when names consist of %j, and contain every plant",
    async (character) => {
      const { open } = startLists(character.repeat(NAME_MAX_LENGTH));
      const chunks = await take(open("ann", { fields: ["id", "name"] }), 50);
      for (const { json } of chunks) expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
      const ids = chunks.flatMap(idsIn);
      expect(ids).toEqual(ids.map((_, n) => n + 1));
      expect(ids.length).toBeGreaterThan(50);
    },
  );

  it("request fewer plants from storage after a chunk was cut", async () => {
    const limits: number[] = [];
    const name = "x".repeat(NAME_MAX_LENGTH);
    const app = new App({
      async selectPlants(_: string, { after = 0n, limit }) {
        limits.push(limit);
        return Array.from({ length: limit }, (_, n): Plant => ({ id: after + BigInt(n) + 1n, name }));
      },
    } as Storage);
    await take(readChunks(app, new ListScheduler(), "ann", {}), 20);
    expect(limits[0]).toBe(501);
    expect(Math.max(...limits.slice(1))).toBeLessThan(130);
  });

  it("end exactly at the limit, even if chunks were cut", async () => {
    const { open } = startLists("x".repeat(NAME_MAX_LENGTH));
    for (const limit of [1, 61, 62, 63, 500, 501, 777]) {
      const chunks = await Array.fromAsync(open("ann", { limit, fields: ["id", "name"] }));
      expect(chunks.flatMap(idsIn)).toEqual(Array.from({ length: limit }, (_, n) => n + 1));
      expect(chunks.at(-1)?.next).toBe(BigInt(limit));
    }
  });
});
