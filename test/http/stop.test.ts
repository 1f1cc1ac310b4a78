import { describe, expect, it } from "bun:test";
import { HttpServer } from "../../src/http/server.ts";
import { Connection } from "../support/connection.ts";

const DEADLINE_MS = 10_000;
const REQUEST = { method: "GET", path: "/" };

const startServer = (onRequest = () => {}) =>
  new HttpServer({
    host: "127.0.0.1",
    port: 0,
    reusePort: false,
    idleTimeoutSeconds: 30,
    routes: [
      {
        operation: "test",
        method: "GET",
        path: "/",
        handle: () => {
          onRequest();
          return new Response("done");
        },
      },
    ],
    authenticator: { authenticate: () => undefined },
    onResponse: () => {},
  });

const openConnections = ({ url }: HttpServer, count: number) =>
  Promise.all(Array.from({ length: count }, () => Connection.open(url)));

describe("HttpServer.stop", () => {
  it("responds to requests that have arrived, on old and new connections, with Connection: close", async () => {
    const server = startServer();
    const old = await openConnections(server, 20);
    for (const connection of old) expect((await connection.send(REQUEST)).headers.get("connection")).toBeNull();
    const connections = [...old, ...(await openConnections(server, 20))];
    server.drain();
    const replies = connections.map((connection) => connection.send(REQUEST));
    await server.stop(DEADLINE_MS);
    for (const { status, headers } of await Promise.all(replies)) {
      expect([status, headers.get("connection")]).toEqual([200, "close"]);
    }
    expect(connections.filter(({ isOpen }) => isOpen)).toEqual([]);
  });

  it("does not wait indefinitely while requests keep arriving", async () => {
    let next = () => {};
    const server = startServer(() => next());
    const connections = await openConnections(server, 500);
    for (const connection of connections) await connection.send(REQUEST);
    let completed = 0;
    const clients: Promise<unknown>[] = [];
    // Each request that is read brings in the next one.
    next = () => {
      const reply = connections.pop()?.send(REQUEST);
      if (reply !== undefined) clients.push(reply.then(() => completed++).catch(() => {}));
    };
    next();
    await server.stop(DEADLINE_MS);
    await Promise.all(clients);
    expect(completed).toBeGreaterThan(50);
    expect(completed).toBeLessThan(400);
    for (const connection of connections) connection.close();
  });
});
