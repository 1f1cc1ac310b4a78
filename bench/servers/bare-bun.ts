/** Serves one constant response per method. Argument: port. `RESPONSES` has the responses as JSON. */
import type { CannedResponse } from "./exchange.ts";

const responses = new Map(JSON.parse(process.env["RESPONSES"] ?? "[]") as [string, CannedResponse][]);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  development: false,
  fetch: ({ method }) => {
    const { body, status, headers } = responses.get(method) as CannedResponse;
    return new Response(body === "" ? null : body, { status, headers });
  },
});
