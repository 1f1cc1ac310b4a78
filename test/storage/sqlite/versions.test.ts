import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "bun:test";
import { App } from "../../../src/app.ts";
import type { Plant } from "../../../src/domain/plant.ts";
import { SCOPES } from "../../../src/domain/token.ts";
import { Authorizer } from "../../../src/http/authorizer.ts";
import { Call } from "../../../src/http/call.ts";
import { ListCache } from "../../../src/http/list-cache.ts";
import { ListScheduler } from "../../../src/http/list-scheduler.ts";
import { listPlants } from "../../../src/http/plants.ts";
import { SendBudget } from "../../../src/http/send-budget.ts";
import { openStorage } from "../../../src/storage/open.ts";
import { Versions } from "../../../src/storage/sqlite/versions.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { temporaryFolder } from "../../support/service.ts";

/** More event-loop ticks than a batch can grow. */
const TICKS_UNTIL_SENT = 20;
const MAX_READS = 10_000_000;

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = `${folder.path}/plants.db`;
});
afterEach(() => folder.remove());

describe("lists between a commit on the writer's thread and its acknowledgement", () => {
  let storage: Storage;
  let other: Database;
  let app: App;
  const cache = () => {
    const budget = new SendBudget(64 * 1024 * 1024, () => 1);
    const lists = { app, budget, cache: new ListCache(), scheduler: new ListScheduler() };
    return (owner: string, query: string) => {
      const headers = { Authorization: "Bearer any" };
      const request = new Request(`http://localhost/plants?${query}`, { headers }) as Bun.BunRequest;
      const authenticator = { authenticate: () => ({ owner, scopes: SCOPES }) };
      const authorizer = new Authorizer({ authenticator }, () => "");
      const call = new Call(request, {}, authorizer, () => {});
      call.grant(owner, "plants:read");
      return listPlants(lists, call);
    };
  };
  beforeEach(async () => {
    storage = await openStorage({ engine: "sqlite", file: path }, { forServer: true });
    other = new Database(path);
    app = new App(storage);
  });
  afterEach(async () => {
    other.close();
    await storage.close();
  });

  /** Sends writes to the thread while another connection holds the write lock, so that they cannot commit yet. */
  async function send(write: () => readonly Promise<unknown>[]) {
    other.run("BEGIN IMMEDIATE");
    const state = { isAcknowledged: false };
    const acknowledged = Promise.all(write()).then(() => {
      state.isAcknowledged = true;
    });
    for (let tick = 0; tick < TICKS_UNTIL_SENT; tick++) await new Promise((resolve) => setImmediate(resolve));
    return { state, acknowledged };
  }

  /** Lets the writes commit, without an event-loop tick in which this thread could receive the acknowledgement. */
  function commit(): void {
    const count = other.prepare("SELECT group_concat(owner || id) FROM plants");
    const before = count.values()[0]?.[0];
    other.run("ROLLBACK");
    for (let reads = 0; count.values()[0]?.[0] === before; reads++) {
      if (reads > MAX_READS) throw new Error("the writes do not commit");
    }
  }

  const plant = (id: number): Plant => ({ id: BigInt(id), name: `plant ${id}` });
  const idsOf = async (response: Response | Promise<Response>): Promise<number[]> =>
    ((await (await response).json()) as { id: number }[]).map(({ id }) => id);
  const insert = (owner: string, id: number) => storage.insertPlant(owner, plant(id), undefined);

  it("contain the write, even if they were cached before", async () => {
    const list = cache();
    await insert("ann", 1);
    for (let times = 0; times < 2; times++) await list("ann", "fields=id");
    expect(list("ann", "fields=id")).toBeInstanceOf(Response);

    const { state, acknowledged } = await send(() => [insert("ann", 2)]);
    expect(list("ann", "fields=id")).toBeInstanceOf(Response);
    commit();
    const [uncached, cached] = [await list("ann", "fields=id,name"), await list("ann", "fields=id")];
    expect(state.isAcknowledged).toBe(false);
    expect(await idsOf(uncached)).toEqual([1, 2]);
    expect(await idsOf(cached)).toEqual([1, 2]);

    await acknowledged;
    expect(await idsOf(list("ann", "fields=id"))).toEqual([1, 2]);
  });

  it("contain the writes of all owners in the batch, and stay cached for other owners", async () => {
    const list = cache();
    const owners = ["ann", "bob", "eve"];
    await Promise.all(owners.map((owner) => insert(owner, 1)));
    for (let times = 0; times < 2; times++) for (const owner of owners) await list(owner, "fields=id");

    const { acknowledged } = await send(() => [insert("ann", 2), storage.deletePlant("bob", 1n)]);
    commit();
    const lists = owners.map((owner) => list(owner, "fields=id"));
    expect(lists.map((each) => each instanceof Response)).toEqual([false, false, true]);
    expect(await Promise.all(lists.map(idsOf))).toEqual([[1, 2], [], [1]]);
    await acknowledged;
  });

  it("are not served from a cached list with chunks from before and after the commit", async () => {
    const list = cache();
    const query = "fields=id&limit=600";
    await Promise.all(Array.from({ length: 700 }, (_, id) => insert("ann", id)));
    await list("ann", query);

    const { acknowledged } = await send(() => [storage.deletePlant("ann", 0n), storage.deletePlant("ann", 550n)]);
    const spanning = list("ann", query);
    commit();
    const mixed = await idsOf(spanning);
    expect([mixed.includes(0), mixed.includes(550)]).toEqual([true, false]);
    await acknowledged;
    const later = await idsOf(list("ann", query));
    expect([later.includes(0), later.includes(550)]).toEqual([false, false]);
  });
});

describe("Versions.of", () => {
  let reading: Database;
  let writing: Database;
  let versions: Versions;
  beforeEach(() => {
    writing = new Database(path, { create: true });
    writing.run("PRAGMA journal_mode = WAL");
    writing.run("CREATE TABLE commits (n)");
    reading = new Database(path);
    versions = new Versions(reading);
  });
  afterEach(() => {
    reading.close();
    writing.close();
  });

  const batchOf = (...owners: string[]) =>
    owners.map((owner) => ({ kind: "deletePlant", plant: { owner, id: "1" } }) as const);
  const commit = () => writing.run("INSERT INTO commits VALUES (1)");

  it("returns a new version when the commit becomes visible, and keeps it at the acknowledgement", () => {
    commit();
    versions.begin(batchOf("ann", "bob", "ann"));
    versions.end();
    const seen = [versions.of("ann")];
    const look = () => seen.push(versions.of("ann"));
    versions.begin(batchOf("ann", "bob", "ann"));
    look();
    commit();
    look();
    look();
    versions.end();
    look();
    expect(seen.map((version) => seen.indexOf(version))).toEqual([0, 0, 2, 2, 2]);
  });

  it("returns a new version after the acknowledgement when there was no lookup before", () => {
    const before = versions.of("ann");
    versions.begin(batchOf("ann"));
    commit();
    versions.end();
    expect(versions.of("ann")).not.toBe(before);
  });

  it("returns the same version after a rolled back batch", () => {
    versions.begin(batchOf("ann"));
    commit();
    versions.end();
    const before = versions.of("ann");
    versions.begin(batchOf("ann"));
    versions.end();
    expect(versions.of("ann")).toBe(before);
  });

  it("returns the same version for owners without writes of plants in the batch", () => {
    const before = [versions.of("bob"), versions.of("eve")];
    versions.begin([
      { kind: "deletePlant", plant: { owner: "ann", id: "1" } },
      { kind: "insertToken", token: { digest: "", owner: "eve", scopes: [], createdAt: 1 } },
    ]);
    commit();
    expect([versions.of("bob"), versions.of("eve")]).toEqual(before);
    versions.end();
    expect([versions.of("bob"), versions.of("eve")]).toEqual(before);
  });

  it("never returns an earlier version again, even if owners are evicted while a batch is in flight", () => {
    const owners = Array.from({ length: 25_000 }, (_, n) => `owner ${n}`);
    const watched = ["ann", ...owners.slice(0, 3), "never written to"];
    const seen = watched.map((owner) => [versions.of(owner)]);
    const changed = new Set<string>();
    const look = () => {
      for (const [index, owner] of watched.entries()) {
        const [latest] = (seen[index] as number[]).slice(-1);
        const version = versions.of(owner);
        if (changed.has(owner)) expect(seen[index]).not.toContain(version);
        if (version !== latest) seen[index]?.push(version);
      }
      changed.clear();
    };
    for (let start = 0; start < owners.length; start += 1_000) {
      const batch = ["ann", ...owners.slice(start, start + 1_000)];
      versions.begin(batchOf(...batch));
      look();
      commit();
      for (const owner of batch) changed.add(owner);
      look();
      versions.end();
      look();
    }
    expect(seen.every((versionsSeen) => versionsSeen.length > 1)).toBe(true);
  });

  it("returns a new version for each call while the database cannot be read", () => {
    versions.begin(batchOf("ann"));
    reading.close(true);
    const [one, other] = [versions.of("ann"), versions.of("ann")];
    expect(one).not.toBe(other);
  });
});
