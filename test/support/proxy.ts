import { type AddressInfo, connect, createServer } from "node:net";

/** Starts a TCP proxy for a database server. The proxy can switch to another server like a failover address. */
export async function startProxy(serverUrl: string) {
  let target = new URL(serverUrl);
  let dropsNextReply = false;
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream);
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.on("data", (reply) => {
      if (!dropsNextReply) return client.write(reply);
      dropsNextReply = false;
      return client.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(serverUrl);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    /** Drops the server's next reply and closes the connection. */
    dropNextReply() {
      dropsNextReply = true;
    },
    /** Forwards new connections to another server. */
    moveTo(otherUrl: string) {
      target = new URL(otherUrl);
    },
    stop: () => proxy.close(),
  };
}
