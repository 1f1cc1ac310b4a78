import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { openApiAjv } from "./support/api.ts";
import * as any from "./support/inputs.ts";
import { isVisible, judgeBody, judgeHeaders, judgeId, judgeQuery, trim, type Verdict } from "./support/judge.ts";
import { createToken, type Program, residentBytes, startProgram } from "./support/program.ts";
import { temporaryFolder } from "./support/service.ts";
import { Wire, type WireAnswer } from "./support/wire.ts";

const INPUTS = Number(process.env["PLANTSTORE_BAD_INPUTS"] || 3_000);
const TIMEOUT_MS = 60_000 + INPUTS * 5;
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
let program: Program;
let wire: Wire;
let token: string;
let before: number;
let isDescribed: (plant: unknown) => boolean;

beforeAll(async () => {
  token = await createToken(database, "ann");
  program = await startProgram(["--database", database, "--idle-timeout", "5s"]);
  wire = await Wire.open(program.url);
  const description = (await (await fetch(`${program.url}/openapi.json`)).json()) as { components: object };
  const schema = { components: description.components, $ref: "#/components/schemas/NewPlant" };
  isDescribed = openApiAjv().compile(schema) as typeof isDescribed;
  before = await residentBytes(program);
});

afterAll(async () => {
  await program.stop("SIGKILL");
  folder.remove();
});

/** The answer to one request, on the connection of the last one if that stands; `undefined` when there is none. */
async function ask(bytes: string | Uint8Array): Promise<WireAnswer | undefined> {
  if (wire.isClosed) wire = await Wire.open(program.url);
  wire.send(bytes);
  return wire.answer();
}

const head = (line: string) => `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
const get = (target: string) => ask(head(`GET ${target}`));
const remove = (id: bigint | string) => ask(head(`DELETE /plants/${id}`));

const tried = { taken: 0, refused: 0 };

/** Counts an input; whether it was taken. */
function count(isTaken: boolean): boolean {
  tried[isTaken ? "taken" : "refused"]++;
  return isTaken;
}

/** Fails when the service and a judge disagree; what was taken, if it was. */
function agreed<Value>(verdict: Verdict<Value>, answer: WireAnswer | undefined, success: number): Value | undefined {
  const isTaken = count("value" in verdict);
  expect(answer?.outcome).toBeOneOf("value" in verdict ? [success] : [...verdict.refusals]);
  return isTaken && "value" in verdict ? verdict.value : undefined;
}

/** Checks so large a part of all inputs, of which some have to be taken and some refused. A failure tells the seed. */
async function check<Input>(share: number, inputs: fc.Arbitrary<Input>, test: (input: Input) => Promise<void>) {
  const [{ taken, refused }, numRuns] = [{ ...tried }, Math.ceil(INPUTS * share)];
  await fc.assert(fc.asyncProperty(inputs, test), { numRuns });
  expect(Math.min(tried.taken - taken, tried.refused - refused)).toBeGreaterThan(numRuns / 20);
}

describe("generated input", () => {
  it(
    "as a body is taken just when it is a plant, and kept as it is",
    () =>
      check(0.45, any.body, async ({ bytes, chunkSizes }) => {
        const answer = await ask(any.createWith(token, bytes, chunkSizes));
        const plant = agreed(judgeBody(bytes, isDescribed), answer, 200);
        if (plant === undefined) return;
        const { id, name, tag } = plant;
        expect(JSON.parse(answer?.text ?? "")).toEqual(tag === undefined ? { name } : { name, tag });
        expect((await remove(id))?.outcome).toBe(204);
      }),
    TIMEOUT_MS,
  );

  it(
    "as the id in a path means just the plant that has it",
    () =>
      check(0.15, any.pathId, async (path) => {
        const id = agreed(judgeId(path), await remove(path), 40400);
        if (id === undefined) return;
        await ask(any.createWith(token, Buffer.from(`{"id":${id},"name":"x"}`)));
        expect((await remove(path))?.outcome).toBe(204);
      }),
    TIMEOUT_MS,
  );

  it(
    "as a query lists just what it asks for",
    async () => {
      for (const { id, ...texts } of any.PLANTS) {
        const body = Buffer.from(`{"id":${id},${JSON.stringify(texts).slice(1)}`);
        expect((await ask(any.createWith(token, body)))?.outcome).toBe(200);
      }
      await check(0.2, any.query, async (query) => {
        const answer = await get(`/plants?${query}`);
        const asked = agreed(judgeQuery(query), answer, 200);
        if (asked === undefined) return;
        const { text, isLast } = any.listOf(asked);
        expect([answer?.text, answer?.headers.has("link")]).toEqual([text, !isLast]);
      });
      for (const { id } of any.PLANTS) expect((await remove(id))?.outcome).toBe(204);
    },
    TIMEOUT_MS,
  );

  it(
    "as headers lets in and names just whom they say",
    () =>
      check(0.15, any.headers(token), async (headers) => {
        const answer = await ask(any.headOf(headers) + any.PLANT);
        const [requestId = "", second] = headers.requestId.map(trim);
        const isUsable = second === undefined && isVisible(requestId, 128);
        expect(answer?.headers.get("x-request-id") === requestId).toBe(isUsable);
        if (agreed(judgeHeaders(headers, token), answer, 200)) expect((await remove("1"))?.outcome).toBe(204);
      }),
    TIMEOUT_MS,
  );

  it(
    "as a damaged head is carried out whole or not at all",
    () =>
      check(0.05, any.damage, async (damage) => {
        const own = await Wire.open(program.url);
        own.send(any.damaged(any.headOf(any.goodHeaders(token)), damage) + any.PLANT);
        own.end();
        const statuses = [...(await own.closed()).matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status);
        expect(statuses.filter((status) => /^5/.test(status ?? "") && status !== "505")).toEqual([]);
        count((await remove("1"))?.outcome === 204);
      }),
    TIMEOUT_MS,
  );

  it("leaves a server that has kept nothing, has not grown or failed, and stops as ever", async () => {
    expect((await get("/plants?fields=id"))?.text).toBe("[]");
    const after = await residentBytes(program);
    expect(after - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await program.stop()).toBe(0);
    const failures = program.log().filter(({ level, status }) => level === "error" || Number(status) >= 500);
    expect(failures).toEqual([]);
    const [from, to] = [before, after].map((bytes) => Math.round(bytes / 1024 / 1024));
    console.log(`${tried.taken} inputs taken, ${tried.refused} refused; memory ${from} MiB before, ${to} after`);
  });
});
