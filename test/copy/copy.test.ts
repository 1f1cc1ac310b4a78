import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Tokens } from "../../src/auth/tokens.ts";
import { compare } from "../../src/copy/compare.ts";
import { ID_MAX, ID_MIN } from "../../src/domain/plant.ts";
import { SCOPES, type Token } from "../../src/domain/token.ts";
import { type DatabaseUrl, parseDatabaseUrl } from "../../src/storage/database-url.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage, StoredPlant } from "../../src/storage/storage.ts";
import { newPostgresDatabase } from "../support/postgres.ts";
import { cleanEnvironment, commandLine, type Run, run, startServerProcess, track } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

/** Number of plants for the memory test. A million takes one minute per direction. */
const MANY_PLANTS = Number(process.env["PLANTSTORE_COPY_PLANTS"] || 100_000);
const MAX_GROWTH_BYTES = 48 * 1024 * 1024;
setDefaultTimeout(60_000 + MANY_PLANTS / 5);

/** A database for a single test. It may not exist yet. */
interface TestDatabase {
  readonly url: string;
  /** Runs statements on a separate connection. */
  query<Row>(sql: string): Promise<Row[]>;
}

const folder = temporaryFolder();
const removals: (() => Promise<void>)[] = [];
afterAll(async () => {
  await Promise.all(removals.map((remove) => remove()));
  folder.remove();
});

let files = 0;
const newPath = () => join(folder.path, `${++files}`, "plants.db");

const FACTORIES: Record<string, () => Promise<TestDatabase>> = {
  async SQLite() {
    const path = newPath();
    const query = async <Row>(sql: string) => {
      const db = new Database(path);
      db.run("PRAGMA busy_timeout = 5000");
      const [last = "", ...before] = sql.split(";\n").toReversed();
      for (const each of before.toReversed()) db.run(each);
      const rows = db.query(last).all() as Row[];
      db.close();
      return rows;
    };
    return { url: `sqlite:${path}`, query };
  },
  async PostgreSQL() {
    const { url, query, drop } = await newPostgresDatabase();
    removals.push(drop);
    return { url, query };
  },
};
const newDatabase = (engine: string) => (FACTORIES[engine] as () => Promise<TestDatabase>)();

const DIRECTIONS = ["SQLite", "PostgreSQL"].flatMap((from) =>
  ["SQLite", "PostgreSQL"].map((to) => [from, to] as const),
);
const CROSS_ENGINE = DIRECTIONS.filter(([from, to]) => from !== to);

/** Opens a database, creating it if necessary, and runs `use` with it. */
async function withStorage<Result>({ url }: TestDatabase, use: (storage: Storage) => Promise<Result>): Promise<Result> {
  const storage = await openStorage(parseDatabaseUrl(url) as DatabaseUrl, { forServer: true, poolSize: 10 });
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

const insertAll = (storage: Storage, plants: readonly StoredPlant[]) =>
  Promise.all(plants.map(({ owner, idempotencyKey, ...plant }) => storage.insertPlant(owner, plant, idempotencyKey)));

/** Inserts plants and tokens into a database, creating it if necessary. */
async function fill(database: TestDatabase, plants: readonly StoredPlant[], tokens: readonly Token[] = []) {
  await withStorage(database, async (storage) => {
    for (let first = 0; first < plants.length; first += 250) await insertAll(storage, plants.slice(first, first + 250));
    await Promise.all(tokens.map((token) => storage.insertToken(token)));
  });
  return database;
}

/** Returns all plants and tokens of a database. */
const contents = (database: TestDatabase) =>
  withStorage(database, async (storage) => ({
    plants: await storage.selectStoredPlants(undefined, 1_000_000),
    tokens: await storage.selectTokens(),
  }));

const copy = (from: TestDatabase, to: TestDatabase, ...flags: string[]): Promise<Run> =>
  run(["copy", "--from", from.url, "--to", to.url, ...flags]);

const success = (copied: number, counts: string): Run => ({
  exitCode: 0,
  stdout: `${copied} plant${copied === 1 ? "" : "s"} copied; verified equal: ${counts}\n`,
  stderr: "",
});
/** Result of a failed or interrupted copy that can be resumed. */
const failure = (reason: string): Run => ({
  exitCode: 1,
  stdout: "",
  stderr: `plantstore: ${reason}; to resume, run the same command with --resume\n`,
});

const plant = (owner: string, id: bigint | number, more: Partial<StoredPlant> = {}): StoredPlant => ({
  owner,
  id: BigInt(id),
  name: `plant ${id}`,
  idempotencyKey: undefined,
  ...more,
});
const manyPlants = (count: number, owner = "ann") => Array.from({ length: count }, (_, id) => plant(owner, id));

const TEXTS = ["\u0001\u001f", " spaced\t", "\u2028\u2029", "a\u0301", "\u00e1", "\ufeffmark", "\uffff", "\u{10ffff}"];
TEXTS.push(`"],["`, `"'\\`, "\\u0000", "null", "'; DROP TABLE plants; --", "\u202eabc", "\u{1f331}\u200d\u{1f33c}");
/** Owners whose order differs between UTF-8, UTF-16 and locales, each with plants at all limits. */
const EDGE_CASES = [
  ...TEXTS,
  "A",
  "a",
  "a ",
  "B",
  "\uff21",
  "\u{10000}",
  "x".repeat(255),
  "\u{1f33f}".repeat(255),
].flatMap((owner, n) => [
  plant(owner, ID_MIN, { name: TEXTS[n % TEXTS.length] as string, tag: "" }),
  plant(owner, -(2n ** 53n) - 1n, { tag: TEXTS[n % TEXTS.length] as string, idempotencyKey: "k" }),
  plant(owner, 0, { name: "\u{1f33f}".repeat(1_024), tag: "\u{10ffff}".repeat(255) }),
  plant(owner, 2n ** 53n + 1n, { idempotencyKey: "~".repeat(255) }),
  plant(owner, ID_MAX, { tag: "null", idempotencyKey: "null" }),
]);
const TOKENS: Token[] = [
  { digest: "a".repeat(64), owner: "ann", scopes: SCOPES, createdAt: 1_763_600_000_123 },
  { digest: "b".repeat(64), owner: "\u{10000}", scopes: ["plants:read"], createdAt: 5, label: "\u{1f33f} caf\u00e9" },
  {
    digest: "c".repeat(64),
    owner: "\uffff",
    scopes: ["plants:write"],
    createdAt: 5,
    expiresAt: 0,
    lastUsedAt: 2 ** 52,
  },
  { digest: "d".repeat(64), owner: "no plants", scopes: SCOPES, createdAt: 0, revokedAt: 0, expiresAt: 2 ** 45 },
];

describe("plantstore copy with invalid arguments", () => {
  const sqlite = { url: `sqlite:${newPath()}` };
  const secret = "s3cret";
  const server = `postgres://ann:${secret}@127.0.0.1:1/plants`;
  const misuses: [args: readonly string[], reason: RegExp][] = [
    [[], /--from or PLANTSTORE_FROM is required; --to or PLANTSTORE_TO is required/],
    [["--from", server], /--to or PLANTSTORE_TO is required/],
    [["--from", "plants.db", "--to", `mysql:${secret}`], /--from must be sqlite:.*--to must be sqlite:/],
    [["--from", server, "--to", sqlite.url, "--pool-size", "1"], /--pool-size must be/],
    [["--from", server, "--to", sqlite.url, "--query-timeout", "5"], /--query-timeout must be/],
    [["--from", server, "--to", server], /name the same database/],
    [["--from", server, "--to", "postgresql://bob@127.0.0.1:1/%70lants?sslmode=prefer"], /name the same database/],
    [["--from", sqlite.url, "--to", sqlite.url.replace("plants.db", "./plants.db")], /name the same database/],
    [[`--form=${server}`, "--to", sqlite.url], /unknown option '--form'/],
    [[server, sqlite.url], /too many arguments/],
  ];
  it.each(misuses)("exits with 2 and a one-line error, and creates nothing: %j", async (args, reason) => {
    const { exitCode, stdout, stderr } = await run(["copy", ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/^plantstore: .*\n$/);
    expect(stderr).not.toContain(secret);
    expect(existsSync(join(folder.path, "1"))).toBe(false);
  });

  it("exits with 2 when both URLs name the same file through a symbolic link", async () => {
    const from = await fill(await newDatabase("SQLite"), []);
    const alias = join(folder.path, "alias.db");
    symlinkSync(from.url.slice("sqlite:".length), alias);
    const { exitCode, stderr } = await run(["copy", "--from", from.url, "--to", `sqlite:${alias}`]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: "plantstore: --from and --to name the same database\n",
    });
  });
});

describe("plantstore copy when the source does not exist", () => {
  it("creates no file or folder", async () => {
    const [from, to] = [newPath(), newPath()];
    const result = await run(["copy", "--from", `sqlite:${from}`, "--to", `sqlite:${to}`]);
    expect(result).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `plantstore: the database ${from} does not exist\n`,
    });
    expect([join(from, ".."), join(to, "..")].map(existsSync)).toEqual([false, false]);
  });

  it("creates no tables and does not print the password", async () => {
    const [from, to] = [await newDatabase("PostgreSQL"), await newDatabase("SQLite")];
    const missing = new URL(from.url);
    missing.pathname += "_missing";
    for (const url of [from.url, missing.href]) {
      const { exitCode, stdout, stderr } = await copy({ ...from, url }, to);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^plantstore: cannot use the database 127.0.0.1:\d+\/\w+: .*\n$/);
      expect(stderr).not.toContain(decodeURIComponent(missing.password));
    }
    expect(await from.query("SELECT 1 FROM pg_class WHERE relname IN ('plants', 'plantstore_schema')")).toEqual([]);
    expect(existsSync(join(to.url.slice("sqlite:".length), ".."))).toBe(false);
  });
});

describe.each(DIRECTIONS)("plantstore copy from %s to %s", (fromEngine, toEngine) => {
  const owners = new Set(EDGE_CASES.map(({ owner }) => owner)).size;

  it("copies all plants with their idempotency keys and all tokens exactly, and nothing when repeated", async () => {
    const from = await fill(await newDatabase(fromEngine), EDGE_CASES, TOKENS);
    const to = await newDatabase(toEngine);
    const counts = `${EDGE_CASES.length} plants of ${owners} owners, ${TOKENS.length} tokens`;
    expect(await copy(from, to)).toEqual(success(EDGE_CASES.length, counts));
    const [ours, theirs] = [await contents(from), await contents(to)];
    expect(theirs).toStrictEqual(ours);
    expect([theirs.plants.length, theirs.tokens.length]).toEqual([EDGE_CASES.length, TOKENS.length]);
    expect(await copy(from, to, "--resume")).toEqual(success(0, counts));
    expect(await contents(to)).toStrictEqual(ours);
  });

  it("copies an empty database and creates no token", async () => {
    const from = await fill(await newDatabase(fromEngine), []);
    const to = await newDatabase(toEngine);
    expect(await copy(from, to)).toEqual(success(0, "0 plants of 0 owners, 0 tokens"));
    expect(await contents(to)).toEqual({ plants: [], tokens: [] });
  });

  it("copies many owners with one plant each", async () => {
    const from = await fill(
      await newDatabase(fromEngine),
      Array.from({ length: 1_500 }, (_, n) => plant(`owner ${n}`, 1)),
    );
    const to = await newDatabase(toEngine);
    expect(await copy(from, to)).toEqual(success(1_500, "1500 plants of 1500 owners, 0 tokens"));
    expect(await contents(to)).toStrictEqual(await contents(from));
  });
});

describe.each(["SQLite", "PostgreSQL"])("plantstore copy to %s", (engine) => {
  const nonEmpty: [contents: string, plants: number, tokens: number][] = [
    ["0 plants and 1 token", 0, 1],
    ["1 plant and 0 tokens", 1, 0],
    ["at least 1000 plants and 2 tokens", 1_500, 2],
  ];
  it.each(nonEmpty)("rejects a target with %s and does not change it", async (description, plants, tokens) => {
    const from = await fill(await newDatabase("SQLite"), manyPlants(2_000));
    const to = await fill(await newDatabase(engine), manyPlants(plants), TOKENS.slice(0, tokens));
    const before = await contents(to);
    expect(await copy(from, to)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `plantstore: the target already has ${description}: use an empty database, or --resume to continue an interrupted copy\n`,
    });
    expect(await contents(to)).toStrictEqual(before);
  });

  const PLANTS = [...manyPlants(2_500), plant("\uffff", 1, { tag: "", idempotencyKey: "k" }), plant("\u{10000}", 1)];
  const COUNTS = `${PLANTS.length} plants of 3 owners, ${TOKENS.length} tokens`;

  it("resumes by inserting only the missing plants and tokens", async () => {
    const from = await fill(await newDatabase("SQLite"), PLANTS, TOKENS);
    const isCopied = ({ owner, id }: StoredPlant) =>
      owner === "\u{10000}" || (owner === "ann" && (id < 1_100n || id % 3n === 0n));
    const copied = PLANTS.filter(isCopied);
    const to = await fill(await newDatabase(engine), copied, TOKENS.slice(2));
    expect(await copy(from, to, "--resume")).toEqual(success(PLANTS.length - copied.length, COUNTS));
    expect(await contents(to)).toStrictEqual(await contents(from));
  });

  it("resumes with tokens that were used or revoked in the source since", async () => {
    const from = await fill(await newDatabase("SQLite"), PLANTS, TOKENS);
    const to = await fill(await newDatabase(engine), PLANTS.slice(0, 10), TOKENS);
    await withStorage(from, async (storage) => {
      const [revoked, used] = TOKENS.map(({ digest }) => digest) as [string, string];
      await storage.revokeToken(revoked, 77);
      await storage.recordLastUses(new Map([revoked, used].map((digest) => [digest, 78])));
    });
    expect(await copy(from, to, "--resume")).toEqual(success(PLANTS.length - 10, COUNTS));
    expect(await contents(to)).toStrictEqual(await contents(from));
  });

  const REMEDY = "remove it from the target, or copy to an empty database";
  const differs = (plant: string) => `${plant} differs between source and target: ${REMEDY}`;
  const onlyInTarget = (row: string) => `${row} exists only in the target: ${REMEDY}`;
  const conflicts: [description: string, conflicting: StoredPlant | Token, reason: string][] = [
    ["a plant with another name", plant("ann", 1_700, { name: "Plant 1700" }), differs('plant 1700 of owner "ann"')],
    ["a plant with an added tag", plant("ann", 0, { tag: "" }), differs('plant 0 of owner "ann"')],
    [
      "a plant with another tag",
      plant("\uffff", 1, { tag: "x", idempotencyKey: "k" }),
      differs('plant 1 of owner "\uffff"'),
    ],
    [
      "a plant with another idempotency key",
      plant("\uffff", 1, { tag: "", idempotencyKey: "K" }),
      differs('plant 1 of owner "\uffff"'),
    ],
    ["a plant without its idempotency key", plant("\uffff", 1, { tag: "" }), differs('plant 1 of owner "\uffff"')],
    ["an extra plant before all others", plant("ann", -1), onlyInTarget('plant -1 of owner "ann"')],
    ["an extra plant after the last one of an owner", plant("ann", 2_500), onlyInTarget('plant 2500 of owner "ann"')],
    ["an extra owner between two others", plant("\uffff\uffff", 1), onlyInTarget('plant 1 of owner "\uffff\uffff"')],
    ["an extra owner after all others", plant("\u{10001}", 1), onlyInTarget('plant 1 of owner "\u{10001}"')],
    [
      "an extra token",
      { ...(TOKENS[0] as Token), digest: "e".repeat(64) },
      onlyInTarget('token eeeeeeeeeeee of owner "ann"'),
    ],
  ];
  it.each(conflicts)("rejects --resume and changes nothing when the target has %s", async (_, conflicting, reason) => {
    const from = await fill(await newDatabase("SQLite"), PLANTS, TOKENS);
    const to = await newDatabase(engine);
    await fill(to, manyPlants(3), TOKENS.slice(1));
    if ("digest" in conflicting) await withStorage(to, (storage) => storage.insertToken(conflicting));
    else
      await withStorage(to, async (storage) => {
        await storage.deletePlant(conflicting.owner, conflicting.id);
        await insertAll(storage, [conflicting]);
      });
    const before = await contents(to);
    expect(await copy(from, to, "--resume")).toEqual(failure(reason));
    expect(await contents(to)).toStrictEqual(before);
    if ("digest" in conflicting) return;
    await withStorage(to, (storage) => storage.deletePlant(conflicting.owner, conflicting.id));
    expect((await copy(from, to, "--resume")).exitCode).toBe(0);
  });

  const failed = (difference: string) =>
    `verification failed: ${difference}; make sure that nothing writes to either database`;
  const alterations: [description: string, table: string, change: string, reason: string][] = [
    [
      "changes a name",
      "plants",
      "UPDATE plants SET name = 'Nettle' WHERE owner = NEW.owner AND id = NEW.id AND id = 7",
      failed('plant 7 of owner "ann" differs between source and target'),
    ],
    [
      "loses a tag",
      "plants",
      "UPDATE plants SET tag = NULL WHERE owner = NEW.owner AND id = NEW.id AND owner = '\uffff'",
      failed('plant 1 of owner "\uffff" differs between source and target'),
    ],
    [
      "changes an idempotency key",
      "plants",
      "UPDATE plants SET idempotency_key = 'K' WHERE owner = NEW.owner AND id = NEW.id AND idempotency_key = 'k'",
      failed('plant 1 of owner "\uffff" differs between source and target'),
    ],
    [
      "loses a plant",
      "plants",
      "DELETE FROM plants WHERE owner = NEW.owner AND id = NEW.id AND id = 2499",
      failed('plant 2499 of owner "ann" exists only in the source'),
    ],
    [
      "loses an owner",
      "plants",
      "DELETE FROM plants WHERE owner = NEW.owner AND id = NEW.id AND owner = '\uffff'",
      failed('plant 1 of owner "\uffff" exists only in the source'),
    ],
    [
      "adds an owner",
      "plants",
      "INSERT INTO plants (owner, id, name) SELECT 'zoe', 1, 'Fern' WHERE NEW.owner = '\uffff'",
      failed('plant 1 of owner "zoe" exists only in the target'),
    ],
    [
      "changes the scopes of a token",
      "tokens",
      "UPDATE tokens SET scopes = 'plants:write' WHERE digest = NEW.digest AND scopes = 'plants:read'",
      failed('token bbbbbbbbbbbb of owner "\u{10000}" differs between source and target'),
    ],
  ];
  it.each(alterations)("fails the verification when the target %s", async (_, table, change, reason) => {
    const from = await fill(await newDatabase("SQLite"), PLANTS, TOKENS);
    const to = await fill(await newDatabase(engine), []);
    await to.query(
      engine === "SQLite"
        ? `CREATE TRIGGER alter_row AFTER INSERT ON ${table} BEGIN ${change}; END`
        : `CREATE FUNCTION alter_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${change}; RETURN NULL; END $$;
           CREATE TRIGGER alter_row AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION alter_row()`,
    );
    expect(await copy(from, to)).toEqual(failure(reason));
  });
});

describe("plantstore copy with other processes", () => {
  it("rejects a SQLite file in use by a server, as source or target, and does not change the other database", async () => {
    const served = await fill(await newDatabase("SQLite"), manyPlants(3));
    const server = await startServerProcess(["--database", served.url]);
    const other = await fill(await newDatabase("SQLite"), []);
    for (const [from, to] of [
      [served, other],
      [other, served],
    ] as const) {
      const { exitCode, stdout, stderr } = await copy(from, to);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(
        /^plantstore: another server is running on \S+plants.db, or a copy or restore uses it: stop it first.*\n$/,
      );
    }
    expect(await contents(other)).toEqual({ plants: [], tokens: [] });
    expect(await server.stop()).toBe(0);
    expect((await copy(served, other)).exitCode).toBe(0);
  });

  it("exits with 1 after a query timeout, and can be resumed", async () => {
    const from = await fill(await newDatabase("SQLite"), manyPlants(500));
    const { url, query, withLocks, drop } = await newPostgresDatabase();
    removals.push(drop);
    const to = await fill({ url, query }, []);
    await withLocks("LOCK TABLE plants IN SHARE MODE", async () => {
      const { exitCode, stdout, stderr } = await copy(from, to, "--query-timeout", "200ms");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^plantstore: the database .*; to resume, run the same command with --resume\n$/);
    });
    expect(await copy(from, to, "--resume")).toEqual(success(500, "500 plants of 1 owner, 0 tokens"));
  });
});

describe("a copy between synchronous engines", () => {
  it("can be aborted during the comparison, which is also the verification", async () => {
    const [from, to] = [
      await fill(await newDatabase("SQLite"), manyPlants(5_000)),
      await fill(await newDatabase("SQLite"), manyPlants(5_000)),
    ];
    await withStorage(from, (source) =>
      withStorage(to, async (target) => {
        const controller = new AbortController();
        setImmediate(() => controller.abort(new Error("aborted")));
        const { signal } = controller;
        const nothing = () => {};
        await expect(compare({ source, target, signal }, nothing, nothing)).rejects.toThrow("aborted");
      }),
    );
  });
});

describe.each(CROSS_ENGINE)("an interrupted copy from %s to %s", (fromEngine, toEngine) => {
  const COUNT = 80_000;
  /** Current number of plants in the target; 0 before its tables exist. */
  const countPlants = async (to: TestDatabase): Promise<number> => {
    if (toEngine === "SQLite" && !existsSync(to.url.slice("sqlite:".length))) return 0;
    const rows = await to.query<{ count: number }>("SELECT count(*) AS count FROM plants").catch(() => []);
    return Number(rows[0]?.count ?? 0);
  };

  it("is rejected without --resume and completes with it, after SIGTERM, SIGINT and SIGKILL", async () => {
    const from = await fill(await newDatabase(fromEngine), manyPlants(COUNT), TOKENS);
    const to = await newDatabase(toEngine);
    let copied = 0;
    for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
      const args = commandLine(["copy", "--from", from.url, "--to", to.url, ...(copied === 0 ? [] : ["--resume"])]);
      const streams = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
      const child = track(Bun.spawn(args, { env: cleanEnvironment, ...streams }));
      while ((await countPlants(to)) <= copied) expect(child.exitCode).toBeNull();
      child.kill(signal);
      const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map((each) => new Response(each).text()));
      await child.exited;
      if (signal === "SIGKILL") expect(child.signalCode).toBe(signal);
      else expect({ exitCode: child.exitCode, stdout, stderr } as Run).toEqual(failure(`stopped by ${signal}`));
      copied = await countPlants(to);
      expect(copied).toBeWithin(1, COUNT);
      expect(await withStorage(to, (storage) => storage.selectTokens())).toEqual([]);
      expect((await copy(from, to)).stderr).toMatch(/^plantstore: the target already has .* plants and 0 tokens: /);
    }
    const { exitCode, stdout } = await copy(from, to, "--resume");
    expect(stdout).toEndWith(` plants copied; verified equal: ${COUNT} plants of 1 owner, 4 tokens\n`);
    expect({ exitCode, isRemainder: Number.parseInt(stdout, 10) <= COUNT - copied }).toEqual({
      exitCode: 0,
      isRemainder: true,
    });
    expect(Bun.deepEquals(await contents(to), await contents(from), true)).toBe(true);
  });
});

describe.each(CROSS_ENGINE)("a server on a database copied from %s to %s", (fromEngine, toEngine) => {
  it("accepts the same tokens, and a repeated create with the same idempotency key", async () => {
    const [from, to] = [await newDatabase(fromEngine), await newDatabase(toEngine)];
    const first = await startServerProcess(["--drain", "0s"], { PLANTSTORE_DATABASE: from.url });
    const createToken = (more: object = {}) =>
      withStorage(from, (storage) => new Tokens(storage).create({ owner: "ann", scopes: SCOPES, ...more }));
    await first.stop();
    const [full, reader, expired, revoked] = [
      await createToken(),
      await createToken({ scopes: ["plants:read"], label: "shop" }),
      await createToken({ expiresAt: 1 }),
      await createToken(),
    ];
    await withStorage(from, (storage) => new Tokens(storage).revoke(revoked));
    const create = (url: string, token: string, key: string) =>
      fetch(`${url}/plants`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": key },
        body: `{"id":${ID_MAX},"name":"Clarkia","tag":""}`,
      });
    const list = (url: string, token: string) =>
      fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${token}` } });
    const second = await startServerProcess(["--drain", "0s"], { PLANTSTORE_DATABASE: from.url });
    expect((await create(second.url, full, "k-1")).status).toBe(200);
    await second.stop();
    const listTokens = async ({ url }: TestDatabase) =>
      (await run(["token", "list", "--json", "--database", url])).stdout;
    const tokens = await listTokens(from);
    expect((await copy(from, to)).exitCode).toBe(0);
    expect(await listTokens(to)).toBe(tokens);

    const third = await startServerProcess(["--drain", "0s"], { PLANTSTORE_DATABASE: to.url });
    expect(third.stdout()).not.toContain("plt_");
    expect(await (await list(third.url, reader)).json()).toEqual([{ name: "Clarkia", tag: "" }]);
    expect((await create(third.url, full, "k-1")).status).toBe(200);
    expect((await create(third.url, full, "k-2")).status).toBe(400);
    expect((await create(third.url, reader, "k-1")).status).toBe(403);
    for (const token of [expired, revoked]) expect((await list(third.url, token)).status).toBe(401);
    await third.stop();
    expect(tokens.split("\n")).toHaveLength(6);
  });
});

describe.each(CROSS_ENGINE)("the memory of a copy from %s to %s", (fromEngine, toEngine) => {
  it("does not grow with the number of plants", async () => {
    const from = await newDatabase(fromEngine);
    const name = "n".repeat(500);
    let count = 0;
    /** Copies this many plants to a new database. Returns the peak resident memory. */
    const peakBytes = async (plants: number): Promise<number> => {
      await withStorage(from, async (storage) => {
        while (count < plants) {
          await insertAll(
            storage,
            Array.from({ length: 2_000 }, (_, n) => plant("ann", count + n, { name })),
          );
          count += 2_000;
        }
      });
      const to = await newDatabase(toEngine);
      const startedMs = performance.now();
      const args = commandLine(["copy", "--from", from.url, "--to", to.url]);
      const child = track(Bun.spawn(args, { stdin: "ignore", stdout: "pipe", stderr: "inherit" }));
      const stdout = await new Response(child.stdout).text();
      expect(await child.exited).toBe(0);
      expect(stdout).toBe(success(count, `${count} plants of 1 owner, 0 tokens`).stdout);
      const bytes = child.resourceUsage()?.maxRSS ?? Number.NaN;
      if (MANY_PLANTS > 100_000)
        console.log(
          `${plants} plants: ${Math.round(bytes / 2 ** 20)} MiB, ${Math.round(performance.now() - startedMs)} ms`,
        );
      return bytes;
    };
    const baselineBytes = await peakBytes(20_000);
    expect((await peakBytes(MANY_PLANTS)) - baselineBytes).toBeLessThan(MAX_GROWTH_BYTES);
  });
});
