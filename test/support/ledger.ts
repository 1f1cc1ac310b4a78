import { type PlantStoreClient, PlantStoreError } from "../../src/client/index.ts";
import type { Plant, PlantId } from "../../src/domain/plant.ts";

const WRITERS = 24;
/** A writer's own ids begin at a multiple of this. */
const IDS_A_WRITER = 1_000_000n;
/** Ids that several creates want at once begin here. */
const FIRST_CONTENDED_ID = 1_000_000_000n;
const CONTENDERS = 3;
/** Faults that are told. */
const MAX_FAULTS = 20;

/** What is known of a create and its plant: answered for, or asked for without an answer. */
type State = "created" | "refused" | "deleted" | "maybe created" | "maybe deleted";

interface Entry {
  readonly plant: Plant;
  readonly key: string;
  state: State;
}

/** What a ledger asks of a client, each call once and no more. */
export type LedgerClient = Pick<PlantStoreClient, "createPlant" | "deletePlant" | "listPlants">;

/**
 * What was asked of servers, written down before it was sent, and what they have answered. Every writer has ids of its
 * own; others are wanted by several creates at once, of which one may succeed.
 */
export class Ledger {
  answered = 0;
  /** The creates by their ids. */
  readonly #entries = new Map<PlantId, Entry[]>();
  readonly #faults = new Set<string>();
  readonly #nextIds = Array.from({ length: WRITERS }, (_, n) => BigInt(n - WRITERS / 2) * IDS_A_WRITER);
  #nextContendedId = FIRST_CONTENDED_ID;

  /** Creates and deletes by several writers at once, until `hasEnough` holds. */
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

  /** Lists again and again until `hasEnough` holds; resolves with how often, and notes lists that are not up to date. */
  async read(client: LedgerClient, hasEnough: () => boolean): Promise<number> {
    for (let lists = 0; ; lists++) {
      if (hasEnough()) return lists;
      const before = [...this.#entries.values()].flat().map((entry) => ({ entry, state: entry.state }));
      const found = await this.#list(client).catch(() => undefined);
      if (found === undefined) continue;
      for (const { entry, state } of before) {
        const { id } = entry.plant;
        const isChanging = state !== entry.state;
        if (state === "created" && !isChanging && !found.has(id)) this.#faults.add(`${id} is missing in a later list`);
        if (state === "deleted" && found.has(id)) this.#faults.add(`${id} is in a later list`);
      }
    }
  }

  /** Where the servers' plants and this ledger disagree, the first few of it. */
  async faults(client: LedgerClient): Promise<string[]> {
    const found = await this.#list(client);
    const strangers = [...found.keys()].filter((id) => !this.#entries.has(id));
    return [
      ...this.#faults,
      ...strangers.map((id) => `${id} was never asked for`),
      ...[...this.#entries].flatMap(([id, entries]) => faultsOf(id, entries, found.get(id))),
    ].slice(0, MAX_FAULTS);
  }

  /** Asks again whatever has no answer; resolves with how many that were. */
  async askAgain(client: LedgerClient): Promise<number> {
    const unknown = [...this.#entries.values()].flat().filter(({ state }) => state.startsWith("maybe"));
    for (const entry of unknown) {
      if (entry.state === "maybe created") await this.#create(client, entry);
      else await this.#delete(client, entry);
      if (entry.state.startsWith("maybe")) throw new Error(`${entry.plant.id} has no answer again`);
    }
    return unknown.length;
  }

  async #createOne(client: LedgerClient, writer: number): Promise<void> {
    const id = this.#nextIds[writer] as PlantId;
    this.#nextIds[writer] = id + 1n;
    const plant = { id, name: `${id} `.repeat(40), ...(id % 3n === 0n ? {} : { tag: id % 3n === 1n ? "" : `${id}` }) };
    await this.#create(client, this.#enter(plant, `key-${id}`));
  }

  async #contend(client: LedgerClient): Promise<void> {
    const id = this.#nextContendedId++;
    const entries = Array.from({ length: CONTENDERS }, (_, n) =>
      this.#enter({ id, name: `of ${n}` }, `key-${id}-${n}`),
    );
    await Promise.all(entries.map((entry) => this.#create(client, entry)));
  }

  /** Every third plant goes again, a little after it came. */
  async #deleteSome(client: LedgerClient, writer: number): Promise<void> {
    const [entry] = this.#entries.get((this.#nextIds[writer] as PlantId) - 5n) ?? [];
    if (entry?.state === "created" && entry.plant.id % 3n === 0n) await this.#delete(client, entry);
  }

  #enter(plant: Plant, key: string): Entry {
    const entry: Entry = { plant, key, state: "maybe created" };
    this.#entries.set(plant.id, [...(this.#entries.get(plant.id) ?? []), entry]);
    return entry;
  }

  async #create(client: LedgerClient, entry: Entry): Promise<void> {
    const outcome = await outcomeOf(client.createPlant(entry.plant, { idempotencyKey: entry.key }));
    if (outcome === "unknown") return;
    if (outcome !== "done" && outcome !== "duplicate_id") this.#faults.add(`${entry.plant.id}: ${outcome}`);
    entry.state = outcome === "done" ? "created" : "refused";
    this.answered++;
  }

  async #delete(client: LedgerClient, entry: Entry): Promise<void> {
    const wasUnknown = entry.state === "maybe deleted";
    entry.state = "maybe deleted";
    const outcome = await outcomeOf(client.deletePlant(entry.plant.id));
    if (outcome === "unknown") return;
    const isGone = outcome === "done" || (wasUnknown && outcome === "plant_not_found");
    if (!isGone) this.#faults.add(`${entry.plant.id} is lost: ${outcome}`);
    entry.state = "deleted";
    this.answered++;
  }

  async #list(client: LedgerClient): Promise<Map<PlantId, Plant>> {
    const found = new Map<PlantId, Plant>();
    for await (const plant of client.listPlants({ limit: 5_000 })) {
      if (found.has(plant.id)) this.#faults.add(`${plant.id} is listed twice`);
      found.set(plant.id, plant);
    }
    return found;
  }
}

/** The code of a refusal; `unknown` when no answer came, or one that leaves the outcome open. */
async function outcomeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return "done";
  } catch (error) {
    return error instanceof PlantStoreError && error.status < 500 ? error.code : "unknown";
  }
}

/** What is wrong with what is kept under an id, after all that was answered. */
function faultsOf(id: PlantId, entries: readonly Entry[], kept: Plant | undefined): string[] {
  const created = entries.filter(({ state }) => state === "created");
  const isOpen = entries.some(({ state }) => state.startsWith("maybe"));
  const possible = created.length > 0 ? created : entries.filter(({ state }) => state !== "refused");
  const faults: string[] = [];
  if (created.length > 1) faults.push(`${id} was created twice`);
  if (possible.length === 0) faults.push(`${id} was refused to all`);
  if (kept === undefined && created.length > 0) faults.push(`${id} is lost`);
  if (kept !== undefined && created.length === 0 && !isOpen) faults.push(`${id} is back`);
  if (kept !== undefined && !possible.some(({ plant }) => Bun.deepEquals(kept, plant, true)))
    faults.push(`${id} is not whole`);
  return faults;
}
