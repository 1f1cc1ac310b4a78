import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { connect } from "node:net";
import { Tokens } from "../../src/auth/tokens.ts";
import { SCOPES } from "../../src/domain/token.ts";
import { openStorage } from "../../src/storage/open.ts";
import { residentBytes, type ServerProcess, startServerProcess } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const COUNT = 1_000_000;
const MAX_GROWTH_BYTES = 32 * 1024 * 1024;

describe("GET /plants with a million plants", () => {
  const folder = temporaryFolder();
  const file = `${folder.path}/plants.db`;
  let server: ServerProcess;
  let token: string;

  beforeAll(async () => {
    token = await fill(file);
    server = await startServerProcess(["--database", `sqlite:${file}`]);
  }, 120_000);

  afterAll(async () => {
    await server.stop("SIGKILL");
    folder.remove();
  });

  it("sends all plants in order and in bounded memory, even if another client stalls", async () => {
    const headers = { Authorization: `Bearer ${token}` };
    await fetch(`${server.url}/plants?limit=20`, { headers });
    const before = await residentBytes(server);
    const stalled = connect(Number(new URL(server.url).port), "127.0.0.1");
    stalled.write(`GET /plants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    stalled.once("readable", () => stalled.pause());

    const response = await fetch(`${server.url}/plants?fields=id,name`, { headers });
    let peak = 0;
    let next = 1;
    for await (const object of objects(response)) {
      if (object !== `{"id":${next},"name":"plant ${next}"}`) throw new Error(`expected plant ${next}, got ${object}`);
      if (next++ % 100_000 === 0) peak = Math.max(peak, await residentBytes(server));
    }
    stalled.destroy();
    expect(next - 1).toBe(COUNT);
    expect(peak - before).toBeLessThan(MAX_GROWTH_BYTES);
  }, 120_000);
});

/** Creates a database with the plants and returns a token of their owner. */
async function fill(file: string): Promise<string> {
  const storage = await openStorage({ engine: "sqlite", file }, { forServer: true });
  for (let first = 1; first <= COUNT; first += 2_000) {
    const ids = Array.from({ length: 2_000 }, (_, index) => first + index);
    await Promise.all(
      ids.map((id) => storage.insertPlant("owner", { id: BigInt(id), name: `plant ${id}` }, undefined)),
    );
  }
  const token = await new Tokens(storage).create({ owner: "owner", scopes: SCOPES });
  await storage.close();
  return token;
}

/** Yields the text of each object in a JSON array of flat objects. */
async function* objects(response: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("}") + 1;
    yield* text.slice(0, end).match(/\{[^}]*\}/g) ?? [];
    text = text.slice(end);
  }
  if (text !== "]") throw new Error(`the array ends with ${text}`);
}
