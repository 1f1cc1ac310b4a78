import { afterAll, describe, expect, it } from "bun:test";
import { commandLine, createToken, track } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const startServerProcess = useServerProcesses();
let databases = 0;
const newDatabase = () => `sqlite:${folder.path}/plants-${++databases}.db`;

/** Sends failing requests, which are logged, then lists plants. */
async function expectServing({ url }: { readonly url: string }, token: string, failures = 100): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  for (let n = 0; n < failures; n++) {
    expect((await fetch(`${url}/${"x".repeat(1_000)}`, { headers })).status).toBe(404);
  }
  expect((await fetch(`${url}/plants`, { headers })).status).toBe(200);
}

describe("a server that cannot write its log", () => {
  it("serves requests and exits with 0 when standard error is a full device", async () => {
    const database = newDatabase();
    const token = await createToken(database, "ann");
    const shell = (args: readonly string[]) => ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", ...commandLine(args)];
    const server = await startServerProcess(["--database", database, "--drain", "0s"], {}, shell);
    await expectServing(server, token);
    expect(await server.stop()).toBe(0);
  });

  it.each([100, 1])(
    "serves requests and exits with 0 when the readers of its log have exited before %d failures",
    async (count) => {
      const database = newDatabase();
      const token = await createToken(database, "ann");
      const settings = ["--database", database, "--port", "0", "--admin-port", "off", "--drain", "0s"];
      const server = track(
        Bun.spawn(commandLine(["serve", ...settings]), { stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
      );
      const reader = server.stdout.getReader();
      const { value } = await reader.read();
      const url = /http:\S+/.exec(new TextDecoder().decode(value))?.[0] ?? "";
      await Promise.all([reader.cancel(), server.stderr.cancel()]);
      await expectServing({ url }, token, count);
      server.kill();
      expect(await server.exited).toBe(0);
    },
  );
});
