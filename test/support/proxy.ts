import { type AddressInfo, connect, createServer } from "node:net";

/** Stands between a storage and its server; on request it swallows the server's next reply and hangs up. */
export async function startProxy(serverUrl: string) {
  const { hostname, port } = new URL(serverUrl);
  let isCutting = false;
  const proxy = createServer((client) => {
    const upstream = connect(Number(port), hostname);
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
    cutNextReply: () => {
      isCutting = true;
    },
    stop: () => proxy.close(),
  };
}
