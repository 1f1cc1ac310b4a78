import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import fc from "fast-check";
import { openApiAjv } from "../support/api.ts";
import * as arbitrary from "../support/arbitraries.ts";
import {
  type Expectation,
  expectedHeaders,
  expectedId,
  expectedPlant,
  expectedQuery,
  isVisible,
  trim,
} from "../support/oracle.ts";
import { createToken, residentBytes, type ServerProcess, startServerProcess } from "../support/program.ts";
import { RawConnection, type RawResponse } from "../support/raw-connection.ts";
import { temporaryFolder } from "../support/service.ts";

const INPUTS = Number(process.env["PLANTSTORE_BAD_INPUTS"] || 3_000);
const TIMEOUT_MS = 60_000 + INPUTS * 5;
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
const senders: Sender[] = [];
let server: ServerProcess;
let before: number;
let isDescribed: (plant: unknown) => boolean;

beforeAll(async () => {
  server = await startServerProcess(["--database", database, "--idle-timeout", "5s", "--failure-limit", "off"]);
  const description = (await (await fetch(`${server.url}/openapi.json`)).json()) as { components: object };
  const schema = { components: description.components, $ref: "#/components/schemas/NewPlant" };
  isDescribed = openApiAjv().compile(schema) as typeof isDescribed;
  before = await residentBytes(server);
});

afterAll(async () => {
  await server.stop("SIGKILL");
  folder.remove();
});

/** Sends the requests of one owner one after another, on one connection until the server closes it. */
class Sender {
  readonly token: string;
  accepted = 0;
  rejected = 0;
  #connection: RawConnection;

  static async open(owner: string): Promise<Sender> {
    const token = await createToken(database, owner);
    return new Sender(token, await RawConnection.open(server.url));
  }

  private constructor(token: string, connection: RawConnection) {
    this.token = token;
    this.#connection = connection;
    senders.push(this);
  }

  /** Sends a request and returns the response; `undefined` if the server closes the connection without one. */
  async send(bytes: string | Uint8Array): Promise<RawResponse | undefined> {
    if (this.#connection.isClosed) this.#connection = await RawConnection.open(server.url);
    this.#connection.send(bytes);
    return this.#connection.readResponse();
  }

  create(body: Uint8Array, chunkSizes?: readonly number[]) {
    return this.send(arbitrary.createWith(this.token, body, chunkSizes));
  }

  list(query: string) {
    return this.#sendWithoutBody(`GET /plants?${query}`);
  }

  delete(id: bigint | string) {
    return this.#sendWithoutBody(`DELETE /plants/${id}`);
  }

  #sendWithoutBody(line: string) {
    return this.send(`${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${this.token}\r\n\r\n`);
  }

  /** Checks a response against the expectation. Returns the accepted value, if any, and counts the result. */
  check<Value>(expected: Expectation<Value>, response: RawResponse | undefined, success: number): Value | undefined {
    const isAccepted = "value" in expected;
    expect(response?.outcome).toBeOneOf(isAccepted ? [success] : [...expected.errors]);
    this.count(isAccepted);
    return isAccepted ? expected.value : undefined;
  }

  count(isAccepted: boolean): void {
    this[isAccepted ? "accepted" : "rejected"]++;
  }
}

/** Tests this share of all inputs, and checks that enough of them were accepted and rejected. A failure prints the seed. */
async function testInputs<Input>(
  sender: Sender,
  share: number,
  inputs: fc.Arbitrary<Input>,
  test: (input: Input) => Promise<void>,
) {
  const numRuns = Math.ceil(INPUTS * share);
  await fc.assert(fc.asyncProperty(inputs, test), { numRuns });
  expect(Math.min(sender.accepted, sender.rejected)).toBeGreaterThan(numRuns / 20);
}

describe("a server with generated input", () => {
  it.concurrent(
    "accepts a body exactly when it is a valid plant, and stores it unchanged",
    async () => {
      const sender = await Sender.open("bodies");
      await testInputs(sender, 0.45, arbitrary.body, async ({ bytes, chunkSizes }) => {
        const response = await sender.create(bytes, chunkSizes);
        const plant = sender.check(expectedPlant(bytes, isDescribed), response, 200);
        if (plant === undefined) return;
        const { id, name, tag } = plant;
        expect(JSON.parse(response?.text ?? "")).toEqual(tag === undefined ? { name } : { name, tag });
        expect((await sender.delete(id))?.outcome).toBe(204);
      });
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "accepts an id in a path exactly when it is an int64, and deletes the plant with that id",
    async () => {
      const sender = await Sender.open("ids");
      await testInputs(sender, 0.15, arbitrary.pathId, async (path) => {
        const id = sender.check(expectedId(path), await sender.delete(path), 40400);
        if (id === undefined) return;
        expect((await sender.create(Buffer.from(`{"id":${id},"name":"x"}`)))?.outcome).toBe(200);
        expect((await sender.delete(path))?.outcome).toBe(204);
      });
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "accepts a query exactly when it is valid, and lists the matching plants",
    async () => {
      const sender = await Sender.open("queries");
      for (const { id, ...texts } of arbitrary.PLANTS) {
        await sender.create(Buffer.from(`{"id":${id},${JSON.stringify(texts).slice(1)}`));
      }
      await testInputs(sender, 0.2, arbitrary.query, async (query) => {
        const response = await sender.list(query);
        const selection = sender.check(expectedQuery(query), response, 200);
        if (selection === undefined) return;
        const { text, isLast } = arbitrary.expectedList(selection);
        expect([response?.text, response?.headers.has("link")]).toEqual([text, !isLast]);
      });
      for (const { id } of arbitrary.PLANTS) expect((await sender.delete(id))?.outcome).toBe(204);
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "accepts headers exactly when they are valid, and returns a valid X-Request-Id",
    async () => {
      const sender = await Sender.open("headers");
      await testInputs(sender, 0.15, arbitrary.headers(sender.token), async (headers) => {
        const response = await sender.send(arbitrary.headOf(headers) + arbitrary.PLANT);
        const [requestId = "", second] = headers.requestId.map(trim);
        const isValid = second === undefined && isVisible(requestId, 128);
        expect(response?.headers.get("x-request-id") === requestId).toBe(isValid);
        const isAccepted = sender.check(expectedHeaders(headers, sender.token), response, 200);
        if (isAccepted === true) expect((await sender.delete("1"))?.outcome).toBe(204);
      });
    },
    TIMEOUT_MS,
  );

  it.concurrent(
    "never returns a 5xx other than 505 for a mutated request head",
    async () => {
      const sender = await Sender.open("heads");
      await testInputs(sender, 0.05, arbitrary.mutations, async (mutations) => {
        const connection = await RawConnection.open(server.url);
        connection.send(
          arbitrary.mutate(arbitrary.headOf(arbitrary.validHeaders(sender.token)), mutations) + arbitrary.PLANT,
        );
        connection.end();
        const statuses = [...(await connection.closed()).matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status);
        expect(statuses.filter((status) => /^5/.test(status ?? "") && status !== "505")).toEqual([]);
        sender.count((await sender.delete("1"))?.outcome === 204);
      });
    },
    TIMEOUT_MS,
  );

  it("has no plants afterwards, has not leaked memory or logged an error, and exits with 0", async () => {
    for (const sender of senders) expect((await sender.list("fields=id"))?.text).toBe("[]");
    const after = await residentBytes(server);
    expect(after - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await server.stop()).toBe(0);
    const failures = server.log().filter(({ level, status }) => level === "error" || Number(status) >= 500);
    expect(failures).toEqual([]);
    const sum = (of: "accepted" | "rejected") => senders.reduce((all, sender) => all + sender[of], 0);
    const [from, to] = [before, after].map((bytes) => Math.round(bytes / 1024 / 1024));
    console.log(
      `${sum("accepted")} inputs accepted, ${sum("rejected")} rejected; memory ${from} MiB before, ${to} after`,
    );
  });
});
