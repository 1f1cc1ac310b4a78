/** Answers every method with a constant. Run by the benchmark; the port is its argument, the answers in `ANSWERS`. */
import type { Answer } from "./exchange.ts";

const answers = new Map(JSON.parse(process.env["ANSWERS"] ?? "[]") as [string, Answer][]);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  development: false,
  fetch: ({ method }) => {
    const { body, status, headers } = answers.get(method) as Answer;
    return new Response(body === "" ? null : body, { status, headers });
  },
});
