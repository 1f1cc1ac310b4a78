import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { openApiAjv } from "../support/api.ts";
import * as any from "../support/arbitraries.ts";
import {
  type Expectation,
  expectedHeaders,
  expectedId,
  expectedPlant,
  expectedQuery,
  isVisible,
  trim,
} from "../support/oracle.ts";
import { createToken, type Program, residentBytes, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";
import { Wire, type WireResponse } from "../support/wire.ts";

const INPUTS = Number(process.env["PLANTSTORE_BAD_INPUTS"] || 3_000);
const TIMEOUT_MS = 60_000 + INPUTS * 5;
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
const lanes: Lane[] = [];
let program: Program;
let before: number;
let isDescribed: (plant: unknown) => boolean;

beforeAll(async () => {
  program = await startProgram(["--database", database, "--idle-timeout", "5s", "--failure-limit", "off"]);
  const description = (await (await fetch(`${program.url}/openapi.json`)).json()) as { components: object };
  const schema = { components: description.components, $ref: "#/components/schemas/NewPlant" };
  isDescribed = openApiAjv().compile(schema) as typeof isDescribed;
  before = await residentBytes(program);
});

afterAll(async () => {
  await program.stop("SIGKILL");
  folder.remove();
});

/** One owner's requests, one after another, on one connection for as long as it stands. */
class Lane {
  readonly token: string;
  taken = 0;
  refused = 0;
  #wire: Wire;

  static async open(owner: string): Promise<Lane> {
    const token = await createToken(database, owner);
    return new Lane(token, await Wire.open(program.url));
  }

  private constructor(token: string, wire: Wire) {
    this.token = token;
    this.#wire = wire;
    lanes.push(this);
  }

  /** The answer to a request; `undefined` when there is none. */
  async ask(bytes: string | Uint8Array): Promise<WireResponse | undefined> {
    if (this.#wire.isClosed) this.#wire = await Wire.open(program.url);
    this.#wire.send(bytes);
    return this.#wire.readResponse();
  }

  create(body: Uint8Array, chunkSizes?: readonly number[]) {
    return this.ask(any.createWith(this.token, body, chunkSizes));
  }

  list(query: string) {
    return this.#askFor(`GET /plants?${query}`);
  }

  delete(id: bigint | string) {
    return this.#askFor(`DELETE /plants/${id}`);
  }

  #askFor(line: string) {
    return this.ask(`${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${this.token}\r\n\r\n`);
  }

  /** What was taken, if it was. Fails when the service and a judge disagree. */
  agreed<Value>(verdict: Expectation<Value>, answer: WireResponse | undefined, success: number): Value | undefined {
    const isTaken = "value" in verdict;
    expect(answer?.outcome).toBeOneOf(isTaken ? [success] : [...verdict.errors]);
    this.count(isTaken);
    return isTaken ? verdict.value : undefined;
  }

  count(isTaken: boolean): void {
    this[isTaken ? "taken" : "refused"]++;
  }
}

/** Checks so large a part of all inputs, of which some have to be taken and some refused. A failure tells the seed. */
async function check<Input>(
  lane: Lane,
  share: number,
  inputs: fc.Arbitrary<Input>,
  test: (input: Input) => Promise<void>,
) {
  const numRuns = Math.ceil(INPUTS * share);
  await fc.assert(fc.asyncProperty(inputs, test), { numRuns });
  expect(Math.min(lane.taken, lane.refused)).toBeGreaterThan(numRuns / 20);
}

describe("generated input", () => {
  it.concurrent(
    "as a body is taken just when it is a plant, and kept as it is",
    async () => {
      const lane = await Lane.open("bodies");
      await check(lane, 0.45, any.body, async ({ bytes, chunkSizes }) => {
        const answer = await lane.create(bytes, chunkSizes);
        const plant = lane.agreed(expectedPlant(bytes, isDescribed), answer, 200);
        if (plant === undefined) return;
        const { id, name, tag } = plant;
        expect(JSON.parse(answer?.text ?? "")).toEqual(tag === undefined ? { name } : { name, tag });
        expect((await lane.delete(id))?.outcome).toBe(204);
      });
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "as the id in a path means just the plant that has it",
    async () => {
      const lane = await Lane.open("ids");
      await check(lane, 0.15, any.pathId, async (path) => {
        const id = lane.agreed(expectedId(path), await lane.delete(path), 40400);
        if (id === undefined) return;
        expect((await lane.create(Buffer.from(`{"id":${id},"name":"x"}`)))?.outcome).toBe(200);
        expect((await lane.delete(path))?.outcome).toBe(204);
      });
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "as a query lists just what it asks for",
    async () => {
      const lane = await Lane.open("queries");
      for (const { id, ...texts } of any.PLANTS) {
        await lane.create(Buffer.from(`{"id":${id},${JSON.stringify(texts).slice(1)}`));
      }
      await check(lane, 0.2, any.query, async (query) => {
        const answer = await lane.list(query);
        const asked = lane.agreed(expectedQuery(query), answer, 200);
        if (asked === undefined) return;
        const { text, isLast } = any.listOf(asked);
        expect([answer?.text, answer?.headers.has("link")]).toEqual([text, !isLast]);
      });
      for (const { id } of any.PLANTS) expect((await lane.delete(id))?.outcome).toBe(204);
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "as headers lets in and names just whom they say",
    async () => {
      const lane = await Lane.open("headers");
      await check(lane, 0.15, any.headers(lane.token), async (headers) => {
        const answer = await lane.ask(any.headOf(headers) + any.PLANT);
        const [requestId = "", second] = headers.requestId.map(trim);
        const isUsable = second === undefined && isVisible(requestId, 128);
        expect(answer?.headers.get("x-request-id") === requestId).toBe(isUsable);
        const isTaken = lane.agreed(expectedHeaders(headers, lane.token), answer, 200);
        if (isTaken === true) expect((await lane.delete("1"))?.outcome).toBe(204);
      });
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "as a damaged head is carried out whole or not at all",
    async () => {
      const lane = await Lane.open("heads");
      await check(lane, 0.05, any.damage, async (damage) => {
        const wire = await Wire.open(program.url);
        wire.send(any.damaged(any.headOf(any.goodHeaders(lane.token)), damage) + any.PLANT);
        wire.end();
        const statuses = [...(await wire.closed()).matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status);
        expect(statuses.filter((status) => /^5/.test(status ?? "") && status !== "505")).toEqual([]);
        lane.count((await lane.delete("1"))?.outcome === 204);
      });
    },
    TIMEOUT_MS,
  );

  it("leaves a server that has kept nothing, has not grown or failed, and stops as ever", async () => {
    for (const lane of lanes) expect((await lane.list("fields=id"))?.text).toBe("[]");
    const after = await residentBytes(program);
    expect(after - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await program.stop()).toBe(0);
    const failures = program.log().filter(({ level, status }) => level === "error" || Number(status) >= 500);
    expect(failures).toEqual([]);
    const sum = (of: "taken" | "refused") => lanes.reduce((all, lane) => all + lane[of], 0);
    const [from, to] = [before, after].map((bytes) => Math.round(bytes / 1024 / 1024));
    console.log(`${sum("taken")} inputs taken, ${sum("refused")} refused; memory ${from} MiB before, ${to} after`);
  });
});
