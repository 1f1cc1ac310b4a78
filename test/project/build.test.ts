import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { newPostgresDatabase } from "../support/postgres.ts";
import { track } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const root = join(import.meta.dir, "../..");
const TIMEOUT_MS = 120_000;

describe("npm run build", () => {
  const folder = temporaryFolder();
  beforeAll(async () => {
    const build = track(Bun.spawn(["npm", "run", "build"], { cwd: root, stdout: "ignore", stderr: "ignore" }));
    expect(await build.exited).toBe(0);
  }, TIMEOUT_MS);
  afterAll(() => folder.remove());

  /** Runs the executable in a folder without other files. */
  async function run(...args: string[]) {
    const program = join(folder.path, "plantstore");
    if (!existsSync(program)) await Bun.write(program, Bun.file(join(root, "dist/plantstore")), { mode: 0o755 });
    const options = { cwd: folder.path, env: {}, stdin: "ignore", stdout: "pipe", stderr: "ignore" } as const;
    return track(Bun.spawn([program, ...args], options));
  }

  /** Starts a server and parses its ready message. */
  async function serve(...args: string[]) {
    const server = await run("serve", "--port", "0", "--admin-port", "off", ...args);
    const { value } = await server.stdout.getReader().read();
    const [, url, token] = /ready at (\S+).*?(plt_\w+)/s.exec(new TextDecoder().decode(value)) ?? [];
    return { server, url, headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" } };
  }

  it(
    "builds an executable that serves the API, the pages and backups without other files",
    async () => {
      const { server, url, headers } = await serve();
      const body = '{"id": 9223372036854775807, "name": "Clarkia"}';
      expect((await fetch(`${url}/plants`, { method: "POST", headers, body })).status).toBe(200);
      expect(await (await fetch(`${url}/plants?fields=id`, { headers })).text()).toBe('[{"id":9223372036854775807}]');
      for (const path of ["/", "/docs", "/openapi.json"]) {
        expect((await fetch(url + path)).status).toBe(200);
      }
      const backup = await run("backup", "made.db");
      expect(await new Response(backup.stdout).text()).toMatch(/^1 plant of 1 owner, 1 token backed up: \d+ bytes\n$/);
      const page = await (await fetch(url as string)).text();
      const assets = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path);
      expect(assets.length).toBe(3);
      for (const path of assets) expect((await fetch(url + (path as string))).status).toBe(200);
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    "builds an executable that starts its own workers",
    async () => {
      const database = await newPostgresDatabase();
      const { server, url, headers } = await serve("--workers", "2", "--database", database.url);
      expect(await (await fetch(`${url}/plants`, { headers })).text()).toBe("[]");
      server.kill("SIGTERM");
      expect(await server.exited).toBe(0);
      await database.drop();
    },
    TIMEOUT_MS,
  );

  it("builds the client package", async () => {
    const { exports } = await Bun.file(join(root, "package.json")).json();
    const client = await import(join(root, exports["."].default));
    expect(Object.keys(client).toSorted()).toEqual(["ConnectionError", "PlantStoreClient", "PlantStoreError"]);
    expect(await Bun.file(join(root, exports["."].types)).text()).toContain("PlantStoreClient");
  });
});
