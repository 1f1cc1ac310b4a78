import type { App } from "../app.ts";
import { DEFAULT_FIELDS, type ListQuery } from "../domain/list-query.ts";
import { type Owner, type PlantId, stringifyPlants } from "../domain/plant.ts";
import { type ListScheduler, MAX_CHUNK_LENGTH } from "./list-scheduler.ts";

/** Maximum size of a chunk in UTF-8 bytes, unless a single plant is larger. */
export const MAX_CHUNK_BYTES = 64 * 1024;

/** Reads a list as JSON, chunk by chunk. It holds no plants and no transaction between chunks. */
export class ListReader {
  readonly #app: App;
  readonly #scheduler: ListScheduler;
  readonly #owner: Owner;
  readonly #query: ListQuery;
  #count = 0;
  #remaining: number;
  /** Plants that fit in the last chunk cut at `MAX_CHUNK_BYTES`; doubled with each uncut chunk since. */
  #maxLength = Number.POSITIVE_INFINITY;
  #chunks = 0;
  #next: PlantId | undefined;

  constructor(app: App, scheduler: ListScheduler, owner: Owner, query: ListQuery) {
    this.#app = app;
    this.#scheduler = scheduler;
    this.#owner = owner;
    this.#query = query;
    this.#remaining = query.limit ?? Number.POSITIVE_INFINITY;
    this.#next = query.after;
  }

  /** Number of plants read so far. */
  get count(): number {
    return this.#count;
  }

  /** Number of plants left before the limit; `Infinity` without a limit. */
  get remaining(): number {
    return this.#remaining;
  }

  /** The id to continue after; `undefined` when no plant remains. */
  get next(): PlantId | undefined {
    return this.#next;
  }

  /** Whether the list has ended: the limit is reached or no plant remains. */
  get isComplete(): boolean {
    return this.#chunks > 0 && (this.#remaining === 0 || this.#next === undefined);
  }

  /**
   * Reads the next chunk: plants as JSON objects, separated by commas. Every chunk but the first waits for the
   * scheduler.
   * @throws AppError `unavailable`
   */
  async read(): Promise<string> {
    if (this.#chunks > 0) await this.#scheduler.next(this.#chunks - 1);
    this.#chunks++;
    const { fields = DEFAULT_FIELDS, tag } = this.#query;
    const chunkLength = this.#query.limit === undefined ? this.#scheduler.streamChunkLength : MAX_CHUNK_LENGTH;
    const limit = Math.min(this.#remaining, chunkLength, this.#maxLength);
    const { plants, next } = await this.#app.listPage(this.#owner, { after: this.#next, tag }, limit);
    let length = plants.length;
    let text = stringifyPlants(plants, fields);
    while (length > 1 && Buffer.byteLength(text) > MAX_CHUNK_BYTES) {
      length = Math.floor(length / 2);
      text = stringifyPlants(plants.slice(0, length), fields);
    }
    const isWithinLimit = length === plants.length;
    this.#maxLength = isWithinLimit ? 2 * this.#maxLength : length;
    this.#count += length;
    this.#remaining -= length;
    this.#next = isWithinLimit ? next : plants[length - 1]?.id;
    return text;
  }
}
