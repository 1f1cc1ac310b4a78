import { parseJson, stringifyJson } from "../domain/json.ts";
import { FIELDS } from "../domain/page.ts";
import type { NewPlant, Plant, PlantId } from "../domain/plant.ts";
import { ConnectionError, PlantStoreError } from "./errors.ts";
import { type RetryOptions, retrying } from "./retry.ts";

/** What a client needs to know. */
export interface ClientOptions extends Partial<RetryOptions> {
  /** Base URL of the server, as `https://plants.example.org`. */
  readonly url: string;
  /** `plt_...` */
  readonly token: string;
  /** Milliseconds that one attempt may take. Default: 30 seconds. */
  readonly timeoutMs?: number;
}

/** What every call takes. */
export interface CallOptions {
  /** Gives the call up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a create takes besides the plant. */
export interface CreateOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Made up when left out, so that the retries of one call never disagree. */
  readonly idempotencyKey?: string;
}

/** Which plants a list means, and how many of them a page. */
export interface ListOptions extends CallOptions {
  /** Only plants with a greater id. */
  readonly after?: PlantId | undefined;
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** Plants a page, 1 to 2147483647. Default: 1000. */
  readonly limit?: number;
}

/** `next` is what to pass as `after` for the next page; absent on the last one. */
export interface PlantPage {
  readonly plants: readonly NewPlant[];
  readonly next?: PlantId;
}

/**
 * A client for one server and one token. Ids are `bigint`, exact. Every call is sent again, a few times, when the
 * server is busy or out of reach; all are safe to repeat. Calls reject with {@link PlantStoreError} when the server
 * refuses, and with {@link ConnectionError} when no answer comes.
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

  /** Creates a plant; resolves once it is durable. */
  async createPlant({ id, name, tag }: NewPlant, options: CreateOptions = {}): Promise<Plant> {
    const { idempotencyKey = randomKey(), signal } = options;
    const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
    const request = { method: "POST", headers, body: stringifyJson({ id, name, tag }) };
    const attempt = async () => JSON.parse((await this.#send("/plants", request, signal)).body) as Plant;
    return retrying(attempt, this.#retry, signal);
  }

  /** One page of the plants, in ascending order of id. */
  async listPage({ after, tag, limit = 1_000, signal }: ListOptions = {}): Promise<PlantPage> {
    const query = new URLSearchParams({ fields: FIELDS.join(","), limit: String(limit) });
    if (after !== undefined) query.set("after", String(after));
    if (tag !== undefined) query.set("tag", tag);
    return retrying(async () => toPage(await this.#send(`/plants?${query}`, {}, signal)), this.#retry, signal);
  }

  /** All plants in ascending order of id, fetched page by page as they are taken. */
  async *listPlants(options: ListOptions = {}): AsyncGenerator<NewPlant, void> {
    let page = await this.listPage(options);
    yield* page.plants;
    while (page.next !== undefined) {
      page = await this.listPage({ ...options, after: page.next });
      yield* page.plants;
    }
  }

  /** Deletes a plant; resolves once that is durable. */
  async deletePlant(id: PlantId, { signal }: CallOptions = {}): Promise<void> {
    let mayBeDone = false;
    const attempt = async () => {
      try {
        await this.#send(`/plants/${id}`, { method: "DELETE" }, signal);
      } catch (error) {
        const { status = 500, code = "unknown" } = error instanceof PlantStoreError ? error : {};
        // After an attempt whose outcome is unknown, "no such plant" means that that attempt had deleted it.
        if (mayBeDone && code === "plant_not_found") return;
        mayBeDone ||= status >= 500;
        throw error;
      }
    };
    await retrying(attempt, this.#retry, signal);
  }

  async #send(path: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Answer> {
    const headers = { ...init.headers, Authorization: `Bearer ${this.#token}` };
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const signals = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    let response: Response;
    let body: string;
    try {
      response = await fetch(this.#url + path, { ...init, headers, signal: signals });
      body = await response.text();
    } catch (cause) {
      throw new ConnectionError(`no answer from ${this.#url}: ${(cause as Error).message}`, { cause });
    }
    if (!response.ok) throw new PlantStoreError(response, body);
    return { body, link: response.headers.get("link") ?? "" };
  }
}

interface Answer {
  readonly body: string;
  readonly link: string;
}

function toPage({ body, link }: Answer): PlantPage {
  const rows = parseJson(body) as (Plant & { id: number | bigint })[];
  const plants = rows.map((row) => ({ ...row, id: BigInt(row.id) }));
  const next = /[?&]after=(-?\d+)[^>]*>; rel="next"/.exec(link)?.[1];
  return next === undefined ? { plants } : { plants, next: BigInt(next) };
}

/** A new idempotency key that nobody else has. */
export function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
}
