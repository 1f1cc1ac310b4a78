import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PlantStoreClient } from "../../src/client/index.ts";
import { ID_MIN } from "../../src/domain/plant.ts";
import { DATABASES, type TestDatabase } from "../support/engines.ts";
import {
  commandLine,
  createToken,
  type RunOptions,
  run,
  type ServerProcess,
  startServerProcess,
  track,
} from "../support/program.ts";
import { newOwner, temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const TIMEOUT_MS = 60_000;
const folder = temporaryFolder();
afterAll(() => folder.remove());

let files = 0;
const newFile = (extension: string, content?: string | Uint8Array): string => {
  const path = join(folder.path, `file-${++files}.${extension}`);
  if (content !== undefined) writeFileSync(path, content);
  return path;
};

/** Runs `import` or `export` with this server and token. */
const runWith = (url: string, token: string, args: readonly string[], options: RunOptions = {}) =>
  run(args, { ...options, env: { PLANTSTORE_URL: url, PLANTSTORE_TOKEN: token, ...options.env } });

describe("plantstore token without a database", () => {
  const misuses: [args: readonly string[], reason: string][] = [
    [[], "Usage"],
    [["create"], "--owner"],
    [["create", "--owner", ""], "--owner must be"],
    [["create", "--owner", "a\nb"], "--owner must be"],
    [["create", "--owner", "x".repeat(256)], "--owner must be"],
    [["create", "--owner", "a", "--label", ""], "--label must be"],
    [["create", "--owner", "a", "--scopes", "plants:admin"], "--scopes must be"],
    [["create", "--owner", "a", "--scopes", "plants:read,"], "--scopes must be"],
    [["create", "--owner", "a", "--scopes", ""], "--scopes must be"],
    [["create", "--owner", "a", "--expires", "0s"], "--expires must be"],
    [["create", "--owner", "a", "--link", "--url", "nowhere"], "--url must be"],
    [["create", "--owner", "a", "--expires", "30"], "--expires must be"],
    [["create", "--owner", "a", "--expires", "36501d"], "--expires must be"],
    [["list", "--owner", "a"], "--owner"],
    [["revoke"], "token"],
  ];
  it(
    "exits with 2 on invalid arguments and creates no database",
    async () => {
      const path = join(folder.path, "invalid", "plants.db");
      for (const [args, reason] of misuses) {
        const env = { PLANTSTORE_DATABASE: `sqlite:${path}` };
        const { exitCode, stdout, stderr } = await run(["token", ...args], { env });
        expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 2, stdout: "" });
        expect(stderr).toContain(reason);
      }
      expect(existsSync(join(folder.path, "invalid"))).toBe(false);
    },
    TIMEOUT_MS,
  );

  it.each(["list", "revoke 84359d473ba6"])(
    "%s exits with 1 and creates no database when it does not exist",
    async (args) => {
      const path = join(folder.path, "missing", "plants.db");
      const result = await run(["token", ...args.split(" "), "--database", `sqlite:${path}`]);
      expect(result).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: `plantstore: the database ${path} does not exist\n`,
      });
      expect(existsSync(join(folder.path, "missing"))).toBe(false);
    },
  );
});

describe("plantstore import and export without a server", () => {
  const misuses: [args: readonly string[], exitCode: number, reason: RegExp, env?: Record<string, string>][] = [
    [["import"], 2, /missing required argument 'file'/],
    [["import", "plants.txt"], 2, /--format is required for plants\.txt: one of ndjson, csv, json/],
    [["import", "-"], 2, /--format is required for standard input/],
    [["import", "plants.csv", "--format", "xml"], 2, /--format must be one of ndjson, csv, json/],
    [["export", "plants.txt"], 2, /--format is required/],
    [["import", "plants.csv"], 2, /--token or PLANTSTORE_TOKEN is required/, { PLANTSTORE_TOKEN: "" }],
    [["export"], 2, /--url must be.*PLANTSTORE_TOKEN must be/, { PLANTSTORE_TOKEN: "a b" }],
    [["import", "/nowhere/plants.csv"], 1, /cannot read \/nowhere\/plants\.csv: no such file/],
    [["import", "."], 2, /--format is required/],
    [["import", ".", "--format", "csv"], 1, /cannot read \.: no such file/],
    [["export", "/nowhere/plants.csv"], 1, /\/nowhere\/plants\.csv/],
  ];
  for (const [args, exitCode, reason, env = {}] of misuses) {
    it(`${args.join(" ")} exits with ${exitCode} and a one-line error: ${reason.source}`, async () => {
      const more = reason.source.startsWith("--url") ? ["--url", "ftp://x"] : [];
      const result = await runWith("http://127.0.0.1", "plt_x", [...args, ...more], { env, cwd: folder.path });
      expect({ exitCode: result.exitCode, stdout: result.stdout }).toEqual({ exitCode, stdout: "" });
      expect(result.stderr).toMatch(reason);
      expect(result.stderr).toMatch(/^plantstore: .*\n$/);
    });
  }

  it("export leaves an existing file unchanged and no temporary file when it fails midway", async () => {
    const page = () => Response.json([{ id: 1, name: "Fern" }], { headers: { Link: '</plants?after=1>; rel="next"' } });
    const rejection = () => Response.json({ error: 40101, message: "revoked during the export" }, { status: 401 });
    const stub = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: ({ url }) => (url.includes("after=") ? rejection() : page()),
    });
    const [existing, missing] = [newFile("csv", "previous content"), newFile("json")];
    for (const file of [existing, missing]) {
      const { exitCode, stdout, stderr } = await runWith(stub.url.origin, "plt_x", ["export", file]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toBe("plantstore: revoked during the export\n");
    }
    await stub.stop(true);
    expect(readFileSync(existing, "utf8")).toBe("previous content");
    expect(existsSync(missing)).toBe(false);
    expect(readdirSync(folder.path).filter((name) => name.includes("partial"))).toEqual([]);
  });
});

/** NDJSON as `export` writes it, ordered by id. */
const NDJSON = [
  '{"id":-9223372036854775808,"name":"first"}',
  '{"id":-9007199254740993,"name":"caf\u00e9","tag":"cafe\u0301"}',
  '{"id":-1,"name":"line\u2028separator\u2029","tag":""}',
  '{"id":0,"name":" spaces ","tag":" "}',
  '{"id":1,"name":"says \\"a, b\\"","tag":"x,y"}',
  '{"id":2,"name":"two\\r\\nlines\\nand one","tag":"\\""}',
  '{"id":3,"name":"\ufeffmark","tag":"null"}',
  '{"id":4,"name":"=1+1;\\t\'\\\\","tag":"\u{1f33f}"}',
  '{"id":9007199254740993,"name":"null"}',
  '{"id":9223372036854775807,"name":"last","tag":"0"}',
]
  .map((line) => `${line}\n`)
  .join("");
const NDJSON_COUNT = NDJSON.trim().split("\n").length;

describe.each(DATABASES)("on %s", (_, newDatabase) => {
  let database: TestDatabase;
  let server: ServerProcess;
  beforeAll(async () => {
    database = await newDatabase();
    server = await startServerProcess(["--database", database.url]);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  const newToken = (...args: string[]) => createToken(database.url, newOwner(), args);
  const tokenCommand = (...args: string[]) => run(["token", ...args, "--database", database.url]);
  const plants = (token: string, args: readonly string[], options?: RunOptions) =>
    runWith(server.url, token, args, options);
  /** All plants of the token's owner as NDJSON. */
  const exported = async (token: string): Promise<string> => (await plants(token, ["export"])).stdout;

  describe("plantstore token", () => {
    it("create prints only the token, which works", async () => {
      const { exitCode, stdout, stderr } = await tokenCommand("create", "--owner", newOwner());
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toMatch(/^plt_[0-9A-Za-z]{36}\n$/);
      const headers = { Authorization: `Bearer ${stdout.trim()}` };
      expect((await fetch(`${server.url}/plants`, { headers })).status).toBe(200);
    });

    it("create --link prints only a link with the token in the fragment", async () => {
      for (const [url, start] of [
        [undefined, "http://127.0.0.1:8080/"],
        ["https://plants.example", "https://plants.example/"],
        ["http://shop:81/", "http://shop:81/"],
      ]) {
        const at = url === undefined ? [] : ["--url", url];
        const { exitCode, stdout, stderr } = await tokenCommand("create", "--owner", newOwner(), "--link", ...at);
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
        expect(stdout).toStartWith(`${start}#token=plt_`);
        const headers = { Authorization: `Bearer ${stdout.trim().split("=")[1]}` };
        expect((await fetch(`${server.url}/plants`, { headers })).status).toBe(200);
      }
    });

    it("create sets scopes, label and expiry, and list prints them without the token", async () => {
      const owner = newOwner();
      const before = Date.now();
      const token = await createToken(database.url, owner, [
        "--scopes",
        "plants:read",
        "--expires",
        "30d",
        "--label",
        "é x",
      ]);
      const after = Date.now();
      const table = await tokenCommand("list");
      const json = await tokenCommand("list", "--json");
      const row = json.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .find((each) => each.owner === owner);
      expect(row).toMatchObject({ scopes: "plants:read", label: "é x", status: "valid", lastUsed: "" });
      const expires = Date.parse(row.expires) - 30 * 86_400_000;
      expect(expires >= before && expires <= after && Date.parse(row.created) <= after).toBe(true);
      const line = table.stdout.split("\n").find((each) => each.includes(owner)) ?? "";
      for (const part of [row.id, owner, "plants:read", "é x", "valid"]) expect(line).toContain(part);
      const digest = new Bun.CryptoHasher("sha256").update(token).digest("hex");
      for (const secret of [token.slice(4), digest]) expect(table.stdout + json.stdout).not.toContain(secret);
      const headers = { Authorization: `Bearer ${token}` };
      expect((await fetch(`${server.url}/plants/1`, { method: "DELETE", headers })).status).toBe(403);
    });

    it("revoke revokes a token by id or value, and exits with 1 the second time", async () => {
      const [owner, other] = [newOwner(), newOwner()];
      const [token] = [await createToken(database.url, owner), await createToken(database.url, other)];
      const listed = async (name: string) => {
        const { stdout } = await tokenCommand("list", "--json");
        return stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
          .find((each) => each.owner === name);
      };
      const { id } = await listed(other);
      for (const name of [token, id]) {
        expect(await tokenCommand("revoke", name)).toEqual({ exitCode: 0, stdout: "revoked\n", stderr: "" });
        const again = await tokenCommand("revoke", name);
        expect(again).toMatchObject({ exitCode: 1, stdout: "" });
        expect(again.stderr).toMatch(
          /^plantstore: the token does not exist or is already revoked: see `token list`\n$/,
        );
      }
      expect([(await listed(owner)).status, (await listed(other)).status]).toEqual(["revoked", "revoked"]);
      expect((await tokenCommand("revoke", "plt_unknown")).exitCode).toBe(1);
    });
  });

  describe("plantstore import and export", () => {
    it(
      "exit with 1 and a one-line error when the token is invalid or lacks the scope, or the server is unreachable",
      async () => {
        const file = newFile("ndjson", NDJSON);
        const stopped = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
        await stopped.stop(true);
        const unreachable = { env: { PLANTSTORE_URL: stopped.url.origin } };
        const reader = await newToken("--scopes", "plants:read");
        const failures = [
          { reason: /token is malformed, unknown, expired or revoked/, token: "plt_unknown", options: {} },
          { reason: new RegExp(`no response from ${stopped.url.origin}`), token: "plt_unknown", options: unreachable },
        ];
        for (const { reason, token, options } of failures) {
          for (const args of [["import", file], ["export"]]) {
            const { exitCode, stdout, stderr } = await plants(token, args, options);
            expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 1, stdout: "" });
            expect(stderr).toMatch(reason);
            expect(stderr).toMatch(/^plantstore: .*\n$/);
          }
        }
        expect((await plants(reader, ["import", file])).stderr).toMatch(/^plantstore: .*plants:write.*\n$/);
      },
      TIMEOUT_MS,
    );

    for (const format of ["ndjson", "csv", "json"]) {
      it(`round-trip all plants through ${format}, and importing twice changes nothing`, async () => {
        const [token, other] = [await newToken(), await newToken()];
        const first = await plants(token, ["import", newFile("ndjson", NDJSON)]);
        const imported = { exitCode: 0, stdout: `${NDJSON_COUNT} plants imported\n`, stderr: "" };
        expect(first).toEqual(imported);
        expect(await exported(token)).toBe(NDJSON);
        const file = newFile(format);
        const toFile = await plants(token, ["export", file]);
        expect(toFile).toEqual({ exitCode: 0, stdout: `${NDJSON_COUNT} plants exported\n`, stderr: "" });
        const toPipe = await plants(token, ["export", "--format", format]);
        expect(Buffer.from(toPipe.stdout).equals(readFileSync(file))).toBe(true);
        expect(await plants(other, ["import", file])).toEqual(imported);
        expect(await plants(other, ["import", "-", "--format", format], { stdin: toPipe.stdout })).toEqual(imported);
        expect(await exported(other)).toBe(NDJSON);
      });

      it(`round-trip an empty ${format} file`, async () => {
        const token = await newToken();
        const file = newFile(format);
        expect((await plants(token, ["export", file])).exitCode).toBe(0);
        expect(readFileSync(file, "utf8")).toBe({ ndjson: "", csv: "id,name,tag\n", json: "[]\n" }[format] ?? "?");
        expect(await plants(token, ["import", file])).toEqual({
          exitCode: 0,
          stdout: "0 plants imported\n",
          stderr: "",
        });
      });
    }

    it("import reads CSV with a BOM, CRLF, columns in any order and case, other columns, empty tags and no tags", async () => {
      const token = await newToken();
      const rows = Array.from(
        { length: 331 },
        (_, n) => `"note, ${n}",plant ${n},${n % 2 ? `tag ${n}` : n % 4 ? '""' : ""},${n}`,
      );
      const file = newFile("csv", `\ufeffNote,Name,TAG,Id\r\n${rows.join("\r\n")}\r\n\r\n`);
      for (const _ of [1, 2]) {
        expect(await plants(token, ["import", file])).toEqual({
          exitCode: 0,
          stdout: "331 plants imported\n",
          stderr: "",
        });
      }
      const tagOf = (n: number) => (n % 2 ? { tag: `tag ${n}` } : n % 4 ? { tag: "" } : {});
      const lines = rows.map((_, n) => `${JSON.stringify({ id: n, name: `plant ${n}`, ...tagOf(n) })}\n`);
      expect(await exported(token)).toBe(lines.join(""));
      const tagged = await plants(token, ["export", "--tag", "tag 17"]);
      expect(tagged.stdout).toBe('{"id":17,"name":"plant 17","tag":"tag 17"}\n');
      expect((await plants(token, ["export", "--tag", ""])).stdout).toBe(lines.filter((_, n) => n % 4 === 2).join(""));
    });

    it("import reports invalid rows with line and field, and imports the others", async () => {
      const bad = {
        '{"id": 1.5, "name": "x"}': "id must be",
        '{"id": "1", "name": "x"}': "id must be",
        '{"id": 9223372036854775808, "name": "x"}': "id must be",
        '{"name": "x"}': "id must be",
        '{"id": 1}': "name must be",
        '{"id": 1, "name": " "}': "name must be",
        '{"id": 1, "name": "\\ud800"}': "name must be",
        '{"id": 1, "name": "a\\u0000"}': "name must not",
        '{"id": 1, "name": "x", "tag": null}': "tag must be",
        '{"id": 1, "name": "x"': "JSON",
        "[]": "",
        null: "",
        "\xff": "UTF-8",
      };
      const problems = Object.values(bad);
      const lines = ['{"id": 7.0, "name": "good"}', ...Object.keys(bad), "", '{"id": 8, "name": "also", "more": 1}'];
      const token = await newToken();
      const result = await plants(token, ["import", newFile("ndjson", Buffer.from(lines.join("\n"), "latin1"))]);
      expect(result).toMatchObject({ exitCode: 1, stdout: "2 plants imported\n" });
      const reported = result.stderr.trimEnd().split("\n");
      expect(reported.pop()).toBe(`plantstore: ${problems.length} rows skipped`);
      expect(reported.map((line) => line.slice(0, line.indexOf(":"))).sort()).toEqual(
        problems.map((_, n) => `line ${n + 2}`).sort(),
      );
      for (const [n, problem] of problems.entries())
        expect(reported.join("\n")).toMatch(new RegExp(`line ${n + 2}: .*${problem}`));
      expect(await exported(token)).toBe('{"id":7,"name":"good"}\n{"id":8,"name":"also"}\n');
    });

    it("import reports line numbers in CSV with multi-line cells, and rejects a file without id and name columns", async () => {
      const token = await newToken();
      const file = newFile("csv", 'id,name,tag\n1,"two\nlines",\nx,bad,\n2,good\n0x1,bad,\n3,,\n4,good,\n');
      const { exitCode, stdout, stderr } = await plants(token, ["import", file]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "2 plants imported\n" });
      const patterns = [/^line 4: id must/m, /^line 5: .*3 columns/m, /^line 6: id must/m, /^line 7: name must/m];
      for (const pattern of patterns) expect(stderr).toMatch(pattern);
      const withoutHeader = await plants(token, ["import", newFile("csv", "1,Fern,\n")]);
      expect(withoutHeader).toMatchObject({ exitCode: 1, stdout: "" });
      expect(withoutHeader.stderr).toMatch(/^plantstore: .*id and name.*\n$/);
      const notArray = await plants(token, ["import", newFile("json", '{"id": 1}')]);
      expect(notArray).toMatchObject({ exitCode: 1, stdout: "" });
      expect(notArray.stderr).toMatch(/^plantstore: .*array.*\n$/);
    });

    it("import counts an identical existing plant as imported, even when another client created it", async () => {
      const token = await newToken();
      const client = new PlantStoreClient({ url: server.url, token });
      await client.createPlant({ id: ID_MIN, name: "Sage", tag: "" });
      await client.createPlant({ id: 2n, name: "Sage" });
      const rows = [
        `{"id":${ID_MIN},"name":"Sage","tag":""}`,
        '{"id":2,"name":"Sage","tag":""}',
        '{"id":3,"name":"Sage"}',
      ];
      const { exitCode, stdout, stderr } = await plants(token, ["import", newFile("ndjson", rows.join("\n"))]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "2 plants imported\n" });
      expect(stderr).toBe(
        "line 2: id 2 is already in use: use another id, or delete the existing plant\nplantstore: 1 row skipped\n",
      );
    });

    it("import creates rows with the same id one after another, so that the first one wins", async () => {
      const token = await newToken();
      const rows = Array.from({ length: 300 }, (_, n) => `{"id":${n % 3},"name":"row ${n}"}`);
      const inFlight = new Set<number>();
      let hasOverlap = false;
      const proxy = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        async fetch(request) {
          const url = request.url.replace(/^http:..[^/]*/, server.url);
          if (request.method === "GET") return fetch(url, { headers: request.headers });
          const body = await request.text();
          const { id } = JSON.parse(body) as { id: number };
          hasOverlap ||= inFlight.has(id);
          inFlight.add(id);
          const response = await fetch(url, { method: "POST", headers: request.headers, body });
          inFlight.delete(id);
          return response;
        },
      });
      const args = ["import", newFile("jsonl", rows.join("\n")), "--url", proxy.url.origin];
      const { exitCode, stdout, stderr } = await plants(token, args);
      await proxy.stop(true);
      expect({ exitCode, stdout, hasOverlap }).toEqual({
        exitCode: 1,
        stdout: "3 plants imported\n",
        hasOverlap: false,
      });
      expect(stderr).toMatch(/^line 4: id 0 is already in use/m);
      expect(await exported(token)).toBe(`${rows.slice(0, 3).join("\n")}\n`);
    });

    it("import shows a progress bar with the estimated time left on a terminal", async () => {
      const rows = Array.from({ length: 4_000 }, (_, n) => `{"id":${n},"name":"plant ${n}"}\n`);
      const env = { ...process.env, PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: await newToken() };
      const decoder = new TextDecoder();
      let output = "";
      const terminal = {
        cols: 200,
        data: (_: unknown, bytes: Uint8Array) => (output += decoder.decode(bytes, { stream: true })),
      };
      const file = newFile("ndjson", rows.join(""));
      const child = track(Bun.spawn(commandLine(["import", file]), { env, terminal }));
      expect(await child.exited).toBe(0);
      await until(() => output.includes("4000 plants imported"));
      child.terminal?.close();
      const estimates = [...output.matchAll(/ · (\S+) left/g)].map(([, time]) => time);
      expect(estimates.length).toBeGreaterThan(1);
      for (const time of estimates) expect(time).toMatch(/^(?:\?|\d+s|\d+m\d\ds)$/);
    });

    it(
      "import resumes after it was killed",
      async () => {
        const token = await newToken();
        const rows = Array.from({ length: 4_000 }, (_, n) => `{"id":${n},"name":"plant ${n}"}\n`);
        const env = { ...process.env, PLANTSTORE_URL: server.url, PLANTSTORE_TOKEN: token };
        const options = { env, stdin: "pipe", stdout: "ignore", stderr: "ignore" } as const;
        const child = track(Bun.spawn(commandLine(["import", "-", "--format", "ndjson"]), options));
        child.stdin.write(rows.slice(0, 1_000).join(""));
        await child.stdin.flush();
        while ((await exported(token)) === "");
        child.kill("SIGKILL");
        await child.exited;
        expect((await exported(token)).split("\n").length).toBeLessThan(1_002);
        const again = await plants(token, ["import", newFile("ndjson", rows.join(""))]);
        expect(again).toEqual({ exitCode: 0, stdout: "4000 plants imported\n", stderr: "" });
        expect(await exported(token)).toBe(rows.join(""));
      },
      TIMEOUT_MS,
    );
  });
});
