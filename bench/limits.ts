/** The limit: a bare `Bun.serve` that answers a constant. Run by the benchmark, with the port as its argument. */
import { ANSWER } from "./servers.ts";

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  fetch: () => new Response(ANSWER, { headers: { "Content-Type": "application/json" } }),
});
