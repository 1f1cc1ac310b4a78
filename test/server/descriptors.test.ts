import { afterAll, describe, expect, it } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { commandLine, createToken, track } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const FILES = 100;
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Starts a server that can open at most {@link FILES} files and connections. */
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

function send(socket: Socket, path: string, token: string): Promise<string> {
  const response = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return response;
}

describe("a server that has reached its limit of file descriptors", () => {
  it("serves its open connections, and accepts others when descriptors become free", async () => {
    const database = `sqlite:${folder.path}/plants.db`;
    const token = await createToken(database, "ann");
    const { url, server } = await startWithFewFiles(database);
    const first = await open(url);
    expect(await send(first, "/plants", token)).toStartWith("HTTP/1.1 200 ");
    // The kernel queues the connections that the server cannot accept.
    const others = await Promise.all(Array.from({ length: 2 * FILES }, () => open(url)));
    for (let n = 0; n < 10; n++) expect(await send(first, "/plants", token)).toStartWith("HTTP/1.1 200 ");
    const last = others.pop() as Socket;
    const response = send(last, "/plants", token);
    for (const socket of others) socket.destroy();
    expect(await response).toStartWith("HTTP/1.1 200 ");
    for (const socket of [first, last]) socket.destroy();
    server.kill();
    await server.exited;
  });

  it("serves the page when descriptors become free", async () => {
    const { url, server } = await startWithFewFiles(`sqlite:${folder.path}/plants.db`);
    const first = await open(url);
    expect(await send(first, "/livez", "")).toStartWith("HTTP/1.1 200 ");
    const others = await Promise.all(Array.from({ length: 2 * FILES }, () => open(url)));
    await until(() => readdirSync(`/proc/${server.pid}/fd`).length >= FILES);
    await until(async () => {
      others.shift()?.destroy();
      return (await send(first, "/", "")).startsWith("HTTP/1.1 200 ");
    });
    for (const socket of [first, ...others]) socket.destroy();
    server.kill();
    await server.exited;
  });
});
