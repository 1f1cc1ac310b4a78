import { afterAll, describe, expect, it } from "bun:test";
import { connect, type Socket } from "node:net";
import { commandLine, createToken, track } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const FILES = 100;
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The program as a server that may have only so many files and connections open. */
async function startWithFewFiles(database: string) {
  const args = commandLine(["serve", "--database", database, "--port", "0", "--admin-port", "off"]);
  const limited = ["sh", "-c", `ulimit -n ${FILES} && exec "$@"`, "sh", ...args];
  const server = track(Bun.spawn(limited, { stdin: "ignore", stdout: "pipe", stderr: "ignore" }));
  const { value } = await server.stdout.getReader().read();
  return { url: /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? "", server };
}

function open(url: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect(Number(new URL(url).port), "127.0.0.1", () => resolve(socket));
  socket.on("error", reject);
  return promise;
}

function ask(socket: Socket, token: string): Promise<string> {
  const answer = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
  socket.write(`GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return answer;
}

describe("a server that can have no more connections", () => {
  it("goes on with those it has, and takes new ones when there is room", async () => {
    const database = `sqlite:${folder.path}/plants.db`;
    const token = await createToken(database, "ann");
    const { url, server } = await startWithFewFiles(database);
    const first = await open(url);
    expect(await ask(first, token)).toStartWith("HTTP/1.1 200 ");
    // The kernel takes those for which the server has no room, and lets them wait.
    const others = await Promise.all(Array.from({ length: 2 * FILES }, () => open(url)));
    for (let n = 0; n < 10; n++) expect(await ask(first, token)).toStartWith("HTTP/1.1 200 ");
    const last = others.pop() as Socket;
    const answer = ask(last, token);
    for (const socket of others) socket.destroy();
    expect(await answer).toStartWith("HTTP/1.1 200 ");
    for (const socket of [first, last]) socket.destroy();
    server.kill();
    await server.exited;
  });
});
