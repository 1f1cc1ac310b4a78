import { describe, expect, it } from "bun:test";
import { HttpServer } from "../../src/http/server.ts";
import { Connection, ConnectionPool } from "../support/connection.ts";

const DEADLINE_MS = 10_000;
const REQUEST = { method: "GET", path: "/" };

const startServer = () =>
  new HttpServer({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    idleTimeoutSeconds: 30,
    routes: [{ operation: "test", method: "GET", path: "/", handle: () => new Response("answered") }],
    tokens: { authenticate: () => undefined },
    onAnswer: () => {},
  });

const openConnections = ({ url }: HttpServer) => Promise.all(Array.from({ length: 20 }, () => Connection.open(url)));

describe("a server that stops", () => {
  it("answers the requests that have arrived, on connections old and new, and asks their clients to go", async () => {
    const server = startServer();
    const old = await openConnections(server);
    for (const connection of old) expect((await connection.send(REQUEST)).headers.get("connection")).toBeNull();
    const connections = [...old, ...(await openConnections(server))];
    server.drain();
    const replies = connections.map((connection) => connection.send(REQUEST));
    await server.stop(DEADLINE_MS);
    for (const { status, headers } of await Promise.all(replies)) {
      expect([status, headers.get("connection")]).toEqual([200, "close"]);
    }
    expect(connections.filter(({ isOpen }) => isOpen)).toEqual([]);
  });

  it("stops although new requests never end", async () => {
    const server = startServer();
    const pool = new ConnectionPool(server.url);
    let answered = 0;
    const clients = Array.from({ length: 20 }, async () => {
      for (;;) {
        const reply = await pool.send(REQUEST).catch(() => undefined);
        if (reply === undefined) return;
        answered++;
      }
    });
    while (answered < 1_000) await new Promise((resolve) => setImmediate(resolve));
    server.drain();
    await server.stop(DEADLINE_MS);
    await Promise.all(clients);
  });
});
