import { PlantStoreError } from "../../src/client/index.ts";
import { parseJson, stringifyJson } from "../../src/domain/json.ts";
import type { Plant, PlantId } from "../../src/domain/plant.ts";
import { ConnectionPool, type WireReply, type WireRequest } from "./connection.ts";
import type { LedgerClient } from "./ledger.ts";

const POLL_EVERY_MS = 10;

/** A server behind the balancer. */
interface Target {
  readonly url: string;
  readonly pool: ConnectionPool;
  isReady: boolean;
  isRemoved: boolean;
}

/** A load balancer that sends each request to a random ready server on a persistent connection. It never retries. */
export class Balancer implements LedgerClient {
  readonly #token: string;
  readonly #targets: Target[] = [];
  /** Requests without a response or with a 5xx status, by the URL of their server. */
  readonly failures = new Map<string, string[]>();

  constructor(token: string) {
    this.#token = token;
  }

  /** Adds a server, which gets requests while `/readyz` succeeds. Resolves when it is ready for the first time. */
  async add(url: string): Promise<void> {
    const target: Target = { url, pool: new ConnectionPool(url), isReady: false, isRemoved: false };
    this.#targets.push(target);
    this.#watch(target);
    while (!target.isReady) await Bun.sleep(POLL_EVERY_MS);
  }

  /** Removes a server. */
  remove(url: string): void {
    for (const target of this.#targets.filter((each) => each.url === url)) {
      target.isRemoved = true;
      target.pool.close();
      this.#targets.splice(this.#targets.indexOf(target), 1);
    }
  }

  async createPlant(plant: Plant, { idempotencyKey = "" } = {}): Promise<{ name: string }> {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey };
    const { text } = await this.#send({ method: "POST", path: "/plants", headers, body: stringifyJson(plant) });
    return JSON.parse(text);
  }

  async deletePlant(id: PlantId): Promise<void> {
    await this.#send({ method: "DELETE", path: `/plants/${id}` });
  }

  /** Lists all plants with one request. */
  async *listPlants(): AsyncGenerator<Plant, void> {
    const { text } = await this.#send({ method: "GET", path: "/plants?fields=id,name,tag" });
    for (const plant of parseJson(text) as Plant[]) yield { ...plant, id: BigInt(plant.id) };
  }

  async #send(request: WireRequest): Promise<WireReply> {
    const target = await this.#pick();
    const headers = { ...request.headers, Authorization: `Bearer ${this.#token}` };
    try {
      const reply = await target.pool.send({ ...request, headers });
      if (reply.status >= 400) throw new PlantStoreError(reply, reply.text);
      return reply;
    } catch (error) {
      if (!(error instanceof PlantStoreError && error.status < 500)) {
        target.isReady = false;
        const failure = `${request.method} ${request.path}: ${(error as Error).message}`;
        this.failures.set(target.url, [...(this.failures.get(target.url) ?? []), failure]);
      }
      throw error;
    }
  }

  /** Returns a random ready server. Waits until there is one. */
  async #pick(): Promise<Target> {
    for (;;) {
      const ready = this.#targets.filter(({ isReady }) => isReady);
      const target = ready[Math.floor(Math.random() * ready.length)];
      if (target !== undefined) return target;
      await Bun.sleep(POLL_EVERY_MS);
    }
  }

  async #watch(target: Target): Promise<void> {
    while (!target.isRemoved) {
      const reply = await target.pool.send({ method: "GET", path: "/readyz" }).catch(() => undefined);
      target.isReady = reply?.status === 200;
      await Bun.sleep(POLL_EVERY_MS);
    }
  }
}
