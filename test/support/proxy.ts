import { type AddressInfo, connect, createServer } from "node:net";

/** Stands between a storage and its server, as the address does that a failover tool moves from server to server. */
export async function startProxy(serverUrl: string) {
  let target = new URL(serverUrl);
  let isCutting = false;
  const proxy = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream);
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.on("data", (reply) => {
      if (!isCutting) return client.write(reply);
      isCutting = false;
      return client.destroy();
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const url = new URL(serverUrl);
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    url: url.href,
    /** Swallows the server's next reply and hangs up. */
    cutNextReply() {
      isCutting = true;
    },
    /** Leads new connections to another server. */
    moveTo(otherUrl: string) {
      target = new URL(otherUrl);
    },
    stop: () => proxy.close(),
  };
}
