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
  isGone: boolean;
}

/**
 * Sends each request to some server that says it is ready, on connections that it keeps as HTTP lets it. It repeats
 * nothing and hides nothing: a request that fails is a failure of its server.
 */
export class Balancer implements LedgerClient {
  readonly #token: string;
  readonly #targets: Target[] = [];
  /** Requests without an answer or with one of the kind 5xx, by the URL of their server. */
  readonly failures = new Map<string, string[]>();

  constructor(token: string) {
    this.#token = token;
  }

  /** Sends a server requests from now on, whenever its `/readyz` allows it; resolves when it does for the first time. */
  async add(url: string): Promise<void> {
    const target: Target = { url, pool: new ConnectionPool(url), isReady: false, isGone: false };
    this.#targets.push(target);
    this.#watch(target);
    while (!target.isReady) await Bun.sleep(POLL_EVERY_MS);
  }

  /** Forgets a server. */
  remove(url: string): void {
    for (const target of this.#targets.filter((each) => each.url === url)) {
      target.isGone = true;
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

  /** All plants at once, streamed. */
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

  /** Some server that is ready, as soon as there is one. */
  async #pick(): Promise<Target> {
    for (;;) {
      const ready = this.#targets.filter(({ isReady }) => isReady);
      const target = ready[Math.floor(Math.random() * ready.length)];
      if (target !== undefined) return target;
      await Bun.sleep(POLL_EVERY_MS);
    }
  }

  async #watch(target: Target): Promise<void> {
    while (!target.isGone) {
      const reply = await target.pool.send({ method: "GET", path: "/readyz" }).catch(() => undefined);
      target.isReady = reply?.status === 200;
      await Bun.sleep(POLL_EVERY_MS);
    }
  }
}
