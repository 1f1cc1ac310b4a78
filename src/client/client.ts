import { parseJson } from "../domain/json.ts";
import { type CreatedPlant, PLANT_FIELDS, type Plant, type PlantId, stringifyPlants } from "../domain/plant.ts";
import { ConnectionError, PlantStoreError } from "./errors.ts";
import { type RetryOptions, withRetries } from "./retry.ts";

/** Configuration of a client. */
export interface ClientOptions extends Partial<RetryOptions> {
  /** Base URL of the server, such as `https://plants.example.org`. */
  readonly url: string;
  /** Bearer token, such as `plt_...`. */
  readonly token: string;
  /** Timeout of each attempt in milliseconds. Default: 30 seconds. */
  readonly timeoutMs?: number;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Default: a random key, which all retries of the call share. */
  readonly idempotencyKey?: string;
}

/** Filter and page size of a list. */
export interface ListOptions extends CallOptions {
  /** Only plants with a greater id. */
  readonly after?: PlantId | undefined;
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** Plants per page, 1 to 2147483647. Default: 1000. */
  readonly limit?: number;
}

/** A page of a list. Pass `next` as `after` to get the next page; the last page has none. */
export interface PlantPage {
  readonly plants: readonly Plant[];
  readonly next?: PlantId;
}

/**
 * Client for one server and one token. Ids are exact: `bigint`. All calls are idempotent and are retried when the server
 * is overloaded or unreachable. They reject with {@link PlantStoreError} on an error response and with
 * {@link ConnectionError} when there is no response.
 */
export class PlantStoreClient {
  readonly #url: string;
  readonly #token: string;
  readonly #timeoutMs: number;
  readonly #retry: RetryOptions;

  constructor({ url, token, timeoutMs = 30_000, attempts = 5, baseDelayMs = 100 }: ClientOptions) {
    this.#url = url.replace(/\/+$/, "");
    this.#token = token;
    this.#timeoutMs = timeoutMs;
    this.#retry = { attempts, baseDelayMs };
  }

  /** Creates a plant. Resolves once the plant is durable. */
  async createPlant(plant: Plant, options: CreateOptions = {}): Promise<CreatedPlant> {
    const { idempotencyKey = randomKey(), signal } = options;
    const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
    const request = { method: "POST", headers, body: stringifyPlants([plant]) };
    const attempt = async () => JSON.parse((await this.#send("/plants", request, signal)).body) as CreatedPlant;
    return withRetries(attempt, this.#retry, signal);
  }

  /** Returns one page of the plants, ordered by ascending id. */
  async listPage({ after, tag, limit = 1_000, signal }: ListOptions = {}): Promise<PlantPage> {
    const query = new URLSearchParams({ fields: PLANT_FIELDS.join(","), limit: String(limit) });
    if (after !== undefined) query.set("after", String(after));
    if (tag !== undefined) query.set("tag", tag);
    return withRetries(async () => toPage(await this.#send(`/plants?${query}`, {}, signal)), this.#retry, signal);
  }

  /** Yields all plants, ordered by ascending id. Fetches pages on demand. */
  async *listPlants(options: ListOptions = {}): AsyncGenerator<Plant, void> {
    let { after } = options;
    do {
      const { plants, next } = await this.listPage({ ...options, after });
      yield* plants;
      after = next;
    } while (after !== undefined);
  }

  /** Deletes a plant. Resolves once the deletion is durable. */
  async deletePlant(id: PlantId, { signal }: CallOptions = {}): Promise<void> {
    let mayBeDeleted = false;
    const attempt = async () => {
      try {
        await this.#send(`/plants/${id}`, { method: "DELETE" }, signal);
      } catch (error) {
        const { status = 500, code = "unknown" } = error instanceof PlantStoreError ? error : {};
        // If an earlier attempt had an unknown outcome, a 404 means that it deleted the plant.
        if (mayBeDeleted && code === "plant_not_found") return;
        mayBeDeleted ||= status >= 500;
        throw error;
      }
    };
    await withRetries(attempt, this.#retry, signal);
  }

  async #send(path: string, init: RequestInit, signal: AbortSignal | undefined): Promise<SuccessResponse> {
    const headers = { ...init.headers, Authorization: `Bearer ${this.#token}` };
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signals = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    let response: Response;
    let body: string;
    try {
      response = await fetch(this.#url + path, { ...init, headers, signal: signals });
      body = await response.text();
    } catch (cause) {
      throw new ConnectionError(`no response from ${this.#url}: ${(cause as Error).message}`, { cause });
    }
    if (!response.ok) throw new PlantStoreError(response, body);
    return { body, link: response.headers.get("link") ?? "" };
  }
}

interface SuccessResponse {
  readonly body: string;
  readonly link: string;
}

function toPage({ body, link }: SuccessResponse): PlantPage {
  const rows = parseJson(body) as (CreatedPlant & { id: number | bigint })[];
  const plants = rows.map((row) => ({ ...row, id: BigInt(row.id) }));
  const next = /[?&]after=(-?\d+)[^>]*>; rel="next"/.exec(link)?.[1];
  return next === undefined ? { plants } : { plants, next: BigInt(next) };
}

/** Returns a new random idempotency key (128 bits). */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}
