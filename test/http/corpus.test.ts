import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { Tokens } from "../../src/auth/tokens.ts";
import { SCOPES } from "../../src/domain/token.ts";
import { openStorage } from "../../src/storage/open.ts";
import { residentBytes, type ServerProcess, startServerProcess } from "../support/program.ts";
import { RawConnection } from "../support/raw-connection.ts";
import { temporaryFolder } from "../support/service.ts";
import { bodies } from "./corpus/bodies.ts";
import { chunks } from "./corpus/chunks.ts";
import { EXISTING_ID, type Exchange, inPieces, TOKEN } from "./corpus/exchange.ts";
import { expensive } from "./corpus/expensive.ts";
import { headers } from "./corpus/headers.ts";
import { messages } from "./corpus/messages.ts";
import { protocols } from "./corpus/protocols.ts";
import { queries } from "./corpus/queries.ts";
import { disconnects, pipelined } from "./corpus/sequences.ts";
import { sizes } from "./corpus/sizes.ts";
import { smuggling } from "./corpus/smuggling.ts";
import { targets } from "./corpus/targets.ts";

const CORPUS: Readonly<Record<string, readonly Exchange[]>> = {
  pipelined,
  disconnects,
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
  expensive,
};
const ALL = Object.values(CORPUS).flat();
const TIMEOUT_MS = 60_000;
/** Some exchanges last until this timeout. On a busy machine a client can take more than a second to send. */
const IDLE_TIMEOUT = "5s";
const MAX_GROWTH_BYTES = 96 * 1024 * 1024;

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
let tokens: Map<Exchange, string>;
let server: ServerProcess;
let before: number;

beforeAll(async () => {
  tokens = await prepare();
  server = await startServerProcess(["--database", database, "--idle-timeout", IDLE_TIMEOUT]);
  before = await residentBytes(server);
}, TIMEOUT_MS);

afterAll(async () => {
  await server.stop("SIGKILL");
  folder.remove();
});

/** Creates an owner with a token and a plant for each exchange. */
async function prepare(): Promise<Map<Exchange, string>> {
  const storage = await openStorage({ engine: "sqlite", file: `${folder.path}/plants.db` }, { forServer: true });
  const entries = await Promise.all(
    ALL.map(async (exchange, n) => {
      const owner = `owner-${n}`;
      await storage.insertPlant(owner, { id: BigInt(EXISTING_ID), name: "existing" }, undefined);
      return [exchange, await new Tokens(storage).create({ owner, scopes: SCOPES })] as const;
    }),
  );
  await storage.close();
  return new Map(entries);
}

/**
 * Sends the bytes of an exchange. At a pause, a request on another connection ensures that the server has read all earlier
 * bytes. Stops if the server has closed the connection, because sending more would cause a reset and lose the response.
 */
async function send(
  connection: RawConnection,
  { send, pauses = [], clientEnds }: Exchange,
  token: string,
): Promise<void> {
  const bytes = send.replaceAll(TOKEN, token);
  let from = 0;
  for (const at of pauses) {
    connection.send(bytes.slice(from, at));
    from = at;
    await fetch(`${server.url}/livez`);
    await new Promise((resolve) => setImmediate(resolve));
    if (connection.isClosed) return;
  }
  connection.send(bytes.slice(from));
  if (clientEnds === "half") connection.end();
  if (clientEnds === "reset") connection.reset();
}

/** Runs an exchange. Returns all responses, and whether the connection is still usable for another request. */
async function runExchange(
  exchange: Exchange,
  token: string,
): Promise<Pick<Exchange, "responses"> & { connection: string }> {
  const connection = await RawConnection.open(server.url);
  await send(connection, exchange, token);
  const responses: number[] = [];
  while (exchange.connection === "closed" || responses.length < exchange.responses.length) {
    const response = await connection.readResponse(exchange.send.startsWith("HEAD "));
    if (response === undefined) return { responses, connection: "closed" };
    responses.push(response.outcome);
  }
  connection.send(
    `DELETE /plants/none HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nX-Request-Id: next\r\n\r\n`,
  );
  const next = await connection.readResponse();
  connection.close();
  const isOwn = next?.outcome === 40007 && next.headers.get("x-request-id") === "next";
  return { responses, connection: isOwn ? "open" : `followed by ${next?.outcome}` };
}

/** Returns the ids of the owner's plants after all accepted writes have completed. */
async function plantsOf(token: string): Promise<string> {
  const init = { headers: { Authorization: `Bearer ${token}` } };
  await fetch(`${server.url}/plants/0`, { method: "DELETE", ...init });
  return (await fetch(`${server.url}/plants?fields=id`, init)).text();
}

/**
 * Whether no other exchange may run at the same time, because bytes may arrive before the response to an earlier request.
 * In a long event-loop tick the server holds responses, and Bun closes a connection with a held response when more bytes
 * arrive. A tick with one request is never long.
 */
const mustRunAlone = (exchange: Exchange) => pipelined.includes(exchange) || exchange.responses.length > 1;

async function expectOutcome(exchange: Exchange): Promise<void> {
  const token = tokens.get(exchange) as string;
  const { responses, alternativeResponses = responses, connection, plants } = exchange;
  expect(await runExchange(exchange, token)).toBeOneOf([
    { responses, connection },
    { responses: alternativeResponses, connection },
  ]);
  expect(await plantsOf(token)).toBe(JSON.stringify(plants.map((id) => ({ id }))));
}

describe.each(Object.entries(CORPUS))("%s", (_, exchanges) => {
  for (const exchange of exchanges) {
    const test = mustRunAlone(exchange) ? it : it.concurrent;
    test(exchange.name, () => expectOutcome(exchange), TIMEOUT_MS);
  }
});

describe("the server after all exchanges", () => {
  it("has exactly the expected plants of each owner", async () => {
    for (const [{ name, plants }, token] of tokens) {
      expect([name, await plantsOf(token)]).toEqual([name, JSON.stringify(plants.map((id) => ({ id })))]);
    }
  });

  it("has not leaked memory or logged an error, and exits with 0", async () => {
    expect((await residentBytes(server)) - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await server.stop()).toBe(0);
    const failures = server.log().filter(({ level, status }) => level === "error" || Number(status) >= 500);
    expect(failures).toEqual([]);
  });
});
