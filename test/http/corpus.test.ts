import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Tokens } from "../../src/auth/tokens.ts";
import { SCOPES } from "../../src/domain/token.ts";
import { openStorage } from "../../src/storage/open.ts";
import { type Program, residentBytes, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";
import { Wire } from "../support/wire.ts";
import { bodies } from "./corpus/bodies.ts";
import { chunks } from "./corpus/chunks.ts";
import { costly } from "./corpus/costly.ts";
import { type Exchange, inPieces, KEPT, TOKEN } from "./corpus/exchange.ts";
import { headers } from "./corpus/headers.ts";
import { messages } from "./corpus/messages.ts";
import { protocols } from "./corpus/protocols.ts";
import { queries } from "./corpus/queries.ts";
import { endings, pipelined } from "./corpus/sequences.ts";
import { sizes } from "./corpus/sizes.ts";
import { smuggling } from "./corpus/smuggling.ts";
import { targets } from "./corpus/targets.ts";

const CORPUS: Readonly<Record<string, readonly Exchange[]>> = {
  pipelined,
  endings,
  targets,
  smuggling,
  "smuggling in pieces": inPieces(smuggling),
  chunks,
  "chunks in pieces": inPieces(chunks),
  messages,
  "messages in pieces": inPieces(messages),
  protocols,
  sizes,
  queries,
  headers,
  bodies,
  costly,
};
const ALL = Object.values(CORPUS).flat();
const TIMEOUT_MS = 60_000;
/** Some exchanges last until this timeout. On a busy machine a client can take more than a second to send. */
const IDLE_TIMEOUT = "5s";
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
let tokens: Map<Exchange, string>;
let program: Program;
let before: number;

beforeAll(async () => {
  tokens = await prepare();
  program = await startProgram(["--database", database, "--idle-timeout", IDLE_TIMEOUT]);
  before = await residentBytes(program);
}, TIMEOUT_MS);

afterAll(async () => {
  await program.stop("SIGKILL");
  folder.remove();
});

/** A token and a plant for an owner of its own, for every exchange. */
async function prepare(): Promise<Map<Exchange, string>> {
  const storage = await openStorage({ engine: "sqlite", file: `${folder.path}/plants.db` }, { forServer: true });
  const made = await Promise.all(
    ALL.map(async (exchange, n) => {
      const owner = `owner-${n}`;
      await storage.insertPlant(owner, { id: BigInt(KEPT), name: "kept" }, undefined);
      return [exchange, await new Tokens(storage).create({ owner, scopes: SCOPES })] as const;
    }),
  );
  await storage.close();
  return new Map(made);
}

/**
 * Sends all of an exchange. A round trip on another connection tells that the server has read a piece; to send more to
 * one that has hung up would lose its answer.
 */
async function send(wire: Wire, { send, pauses = [], clientEnds }: Exchange, token: string): Promise<void> {
  const bytes = send.replaceAll(TOKEN, token);
  let from = 0;
  for (const at of pauses) {
    wire.send(bytes.slice(from, at));
    from = at;
    await fetch(`${program.url}/livez`);
    await new Promise((resolve) => setImmediate(resolve));
    if (wire.isClosed) return;
  }
  wire.send(bytes.slice(from));
  if (clientEnds === "half") wire.end();
  if (clientEnds === "reset") wire.reset();
}

/** Every answer on the connection of one exchange, and what came of a request that followed on it. */
async function carryOut(exchange: Exchange, token: string): Promise<Pick<Exchange, "answers"> & { leaves: string }> {
  const wire = await Wire.open(program.url);
  await send(wire, exchange, token);
  const answers: number[] = [];
  while (exchange.leaves === "closed" || answers.length < exchange.answers.length) {
    const answer = await wire.readResponse(exchange.send.startsWith("HEAD "));
    if (answer === undefined) return { answers, leaves: "closed" };
    answers.push(answer.outcome);
  }
  wire.send(`DELETE /plants/none HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: next\r\n\r\n`);
  const next = await wire.readResponse();
  wire.close();
  const isOwn = next?.outcome === 40007 && next.headers.get("x-request-id") === "next";
  return { answers, leaves: isOwn ? "open" : `followed by ${next?.outcome}` };
}

/** The ids of the owner's plants, once every write that was accepted before is done. */
async function plantsOf(token: string): Promise<string> {
  const init = { headers: { Authorization: `Bearer ${token}` } };
  await fetch(`${program.url}/plants/0`, { method: "DELETE", ...init });
  return (await fetch(`${program.url}/plants?fields=id`, init)).text();
}

/**
 * Whether bytes may follow a request before its response. In a long tick the server holds responses, and the runtime
 * closes a connection with a held response when more bytes arrive. A request that arrives alone is never in a long tick.
 */
const mustRunAlone = (exchange: Exchange) => pipelined.includes(exchange) || exchange.answers.length > 1;

async function expectOutcome(exchange: Exchange): Promise<void> {
  const token = tokens.get(exchange) as string;
  const { answers, orAnswers = answers, leaves, plants } = exchange;
  expect(await carryOut(exchange, token)).toBeOneOf([
    { answers, leaves },
    { answers: orAnswers, leaves },
  ]);
  expect(await plantsOf(token)).toBe(JSON.stringify(plants.map((id) => ({ id }))));
}

describe.each(Object.entries(CORPUS))("%s", (_, exchanges) => {
  for (const exchange of exchanges) {
    const test = mustRunAlone(exchange) ? it : it.concurrent;
    test(exchange.what, () => expectOutcome(exchange), TIMEOUT_MS);
  }
});

describe("the server", () => {
  it("has kept what was there and made nothing else, in the end", async () => {
    for (const [{ what, plants }, token] of tokens) {
      expect([what, await plantsOf(token)]).toEqual([what, JSON.stringify(plants.map((id) => ({ id })))]);
    }
  });

  it("has neither grown nor failed, and stops as ever", async () => {
    expect((await residentBytes(program)) - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await program.stop()).toBe(0);
    const failures = program.log().filter(({ level, status }) => level === "error" || Number(status) >= 500);
    expect(failures).toEqual([]);
  });
});
