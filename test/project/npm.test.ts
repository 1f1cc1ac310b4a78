import { describe, expect, it } from "bun:test";
import { join } from "node:path";
import { track } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const root = join(import.meta.dir, "../..");

describe("npm start", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "stops the server, not only npm, on %s",
    async (signal) => {
      const folder = temporaryFolder();
      const settings = ["--database", `sqlite:${folder.path}/plants.db`, "--port", "0", "--admin-port", "off"];
      const npm = track(
        Bun.spawn(["npm", "start", "--", ...settings], { cwd: root, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
      );
      let output = "";
      let url: string | undefined;
      const log = new Response(npm.stderr).text();
      for await (const chunk of npm.stdout) {
        output += new TextDecoder().decode(chunk);
        const [, found] = /ready at (\S+)/.exec(output) ?? [];
        if (found === undefined || url !== undefined) continue;
        url = found;
        expect((await fetch(`${url}/readyz`)).status).toBe(200);
        npm.kill(signal);
      }
      // Both streams end only when the last process that holds them has ended.
      expect(await log).toContain('"stopped"');
      await npm.exited;
      await expect(fetch(`${url}/livez`)).rejects.toThrow();
      folder.remove();
    },
    30_000,
  );
});
