import { type PlantStoreClient, PlantStoreError } from "../../src/client/index.ts";
import type { Plant, PlantId } from "../../src/domain/plant.ts";

const WRITERS = 24;
/** The ids of each writer begin at a multiple of this. */
const IDS_PER_WRITER = 1_000_000n;
/** The first of the ids that several concurrent creates compete for. */
const FIRST_CONTENDED_ID = 1_000_000_000n;
const CONTENDERS = 3;
/** Maximum number of violations reported. */
const MAX_VIOLATIONS = 20;

/** State of a created plant. A write without a response leaves it as `maybe created` or `maybe deleted`. */
type State = "created" | "rejected" | "deleted" | "maybe created" | "maybe deleted";

interface Entry {
  readonly plant: Plant;
  readonly key: string;
  state: State;
}

/** The operations that a ledger needs. The client must not retry them. */
export type LedgerClient = Pick<PlantStoreClient, "createPlant" | "deletePlant" | "listPlants">;

/**
 * Writes plants with many concurrent clients and records each write before it is sent and when it is acknowledged, to
 * check afterwards that no write is lost and no plant appears without a create. Each writer has its own ids. Several
 * creates compete for each of a few other ids; one of them may succeed.
 */
export class Ledger {
  /** Number of writes with a definite outcome. */
  acknowledged = 0;
  /** Number of complete lists. */
  lists = 0;
  /** Creates by id. */
  readonly #entries = new Map<PlantId, Entry[]>();
  readonly #violations = new Set<string>();
  readonly #nextIds = Array.from({ length: WRITERS }, (_, n) => BigInt(n - WRITERS / 2) * IDS_PER_WRITER);
  #nextContendedId = FIRST_CONTENDED_ID;

  /** Creates and deletes with several concurrent writers until `hasEnough` returns true. */
  async write(client: LedgerClient, hasEnough: () => boolean): Promise<void> {
    const writers = this.#nextIds.map(async (_, writer) => {
      while (!hasEnough()) {
        await this.#createOne(client, writer);
        await this.#deleteSome(client, writer);
      }
    });
    const contest = async () => {
      while (!hasEnough()) await this.#contend(client);
    };
    await Promise.all([...writers, contest()]);
  }

  /** Lists repeatedly until `hasEnough` returns true, and records violations of read-your-writes. */
  async read(client: LedgerClient, hasEnough: () => boolean): Promise<void> {
    while (!hasEnough()) {
      const before = [...this.#entries.values()].flat().map((entry) => ({ entry, state: entry.state }));
      const found = await this.#list(client).catch(() => undefined);
      if (found === undefined) continue;
      this.lists++;
      for (const { entry, state } of before) {
        const { id } = entry.plant;
        const isChanging = state !== entry.state;
        if (state === "created" && !isChanging && !found.has(id))
          this.#violations.add(`${id} is missing in a later list`);
        if (state === "deleted" && found.has(id)) this.#violations.add(`${id} is in a later list`);
      }
    }
  }

  /** Returns the differences between the servers' plants and this ledger, at most {@link MAX_VIOLATIONS}. */
  async violations(client: LedgerClient): Promise<string[]> {
    const found = await this.#list(client);
    const neverCreated = [...found.keys()].filter((id) => !this.#entries.has(id));
    return [
      ...this.#violations,
      ...neverCreated.map((id) => `${id} was never created`),
      ...[...this.#entries].flatMap(([id, entries]) => violationsOf(id, entries, found.get(id))),
    ].slice(0, MAX_VIOLATIONS);
  }

  /** Retries all writes without a response and returns their number. */
  async retryUnacknowledged(client: LedgerClient): Promise<number> {
    const unacknowledged = [...this.#entries.values()].flat().filter(({ state }) => state.startsWith("maybe"));
    for (const entry of unacknowledged) {
      if (entry.state === "maybe created") await this.#create(client, entry);
      else await this.#delete(client, entry);
      if (entry.state.startsWith("maybe")) throw new Error(`${entry.plant.id} got no response again`);
    }
    return unacknowledged.length;
  }

  async #createOne(client: LedgerClient, writer: number): Promise<void> {
    const id = this.#nextIds[writer] as PlantId;
    this.#nextIds[writer] = id + 1n;
    const plant = { id, name: `${id} `.repeat(40), ...(id % 3n === 0n ? {} : { tag: id % 3n === 1n ? "" : `${id}` }) };
    await this.#create(client, this.#addEntry(plant, `key-${id}`));
  }

  async #contend(client: LedgerClient): Promise<void> {
    const id = this.#nextContendedId++;
    const entries = Array.from({ length: CONTENDERS }, (_, n) =>
      this.#addEntry({ id, name: `of ${n}` }, `key-${id}-${n}`),
    );
    await Promise.all(entries.map((entry) => this.#create(client, entry)));
  }

  /** Deletes every third plant soon after its creation. */
  async #deleteSome(client: LedgerClient, writer: number): Promise<void> {
    const [entry] = this.#entries.get((this.#nextIds[writer] as PlantId) - 5n) ?? [];
    if (entry?.state === "created" && entry.plant.id % 3n === 0n) await this.#delete(client, entry);
  }

  #addEntry(plant: Plant, key: string): Entry {
    const entry: Entry = { plant, key, state: "maybe created" };
    this.#entries.set(plant.id, [...(this.#entries.get(plant.id) ?? []), entry]);
    return entry;
  }

  async #create(client: LedgerClient, entry: Entry): Promise<void> {
    const outcome = await outcomeOf(client.createPlant(entry.plant, { idempotencyKey: entry.key }));
    if (outcome === "unknown") return;
    if (outcome !== "done" && outcome !== "duplicate_id") this.#violations.add(`${entry.plant.id}: ${outcome}`);
    entry.state = outcome === "done" ? "created" : "rejected";
    this.acknowledged++;
  }

  async #delete(client: LedgerClient, entry: Entry): Promise<void> {
    const wasUnknown = entry.state === "maybe deleted";
    entry.state = "maybe deleted";
    const outcome = await outcomeOf(client.deletePlant(entry.plant.id));
    if (outcome === "unknown") return;
    const isGone = outcome === "done" || (wasUnknown && outcome === "plant_not_found");
    if (!isGone) this.#violations.add(`${entry.plant.id} is lost: ${outcome}`);
    entry.state = "deleted";
    this.acknowledged++;
  }

  async #list(client: LedgerClient): Promise<Map<PlantId, Plant>> {
    const found = new Map<PlantId, Plant>();
    for await (const plant of client.listPlants({ limit: 5_000 })) {
      if (found.has(plant.id)) this.#violations.add(`${plant.id} is listed twice`);
      found.set(plant.id, plant);
    }
    return found;
  }
}

/** Resolves with `done`, the code of a 4xx error, or `unknown` after a 5xx error or without a response. */
async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "done";
  } catch (error) {
    return error instanceof PlantStoreError && error.status < 500 ? error.code : "unknown";
  }
}

/** Returns the differences between the plant stored under an id and its acknowledged writes. */
function violationsOf(id: PlantId, entries: readonly Entry[], stored: Plant | undefined): string[] {
  const created = entries.filter(({ state }) => state === "created");
  const isUncertain = entries.some(({ state }) => state.startsWith("maybe"));
  const possible = created.length > 0 ? created : entries.filter(({ state }) => state !== "rejected");
  const violations: string[] = [];
  if (created.length > 1) violations.push(`${id} was created twice`);
  if (possible.length === 0) violations.push(`${id} was rejected by every create`);
  if (stored === undefined && created.length > 0) violations.push(`${id} is lost`);
  if (stored !== undefined && created.length === 0 && !isUncertain) violations.push(`${id} is back after its delete`);
  if (stored !== undefined && !possible.some(({ plant }) => Bun.deepEquals(stored, plant, true)))
    violations.push(`${id} is incomplete`);
  return violations;
}
