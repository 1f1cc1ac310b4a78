import { Database } from "bun:sqlite";
import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { compare } from "../src/copy/copy.ts";
import { verify } from "../src/copy/verify.ts";
import { ID_MAX, ID_MIN } from "../src/domain/plant.ts";
import { SCOPES, type Token } from "../src/domain/token.ts";
import { openStorage } from "../src/storage/open.ts";
import type { Storage, StoredPlant } from "../src/storage/storage.ts";
import { Tokens } from "../src/tokens.ts";
import { newPostgresDatabase } from "./support/postgres.ts";
import { commandLine, type Run, run, startProgram, track } from "./support/program.ts";
import { temporaryFolder } from "./support/service.ts";

/** Plants that are copied in bounded memory; a million takes a minute each way. */
const MANY = Number(process.env["PLANTSTORE_COPY_PLANTS"] || 100_000);
const MAX_GROWTH_BYTES = 48 * 1024 * 1024;
setDefaultTimeout(60_000 + MANY / 5);

/** A database of one test's own, which need not exist yet. */
interface OwnDatabase {
  readonly url: string;
  /** Runs statements beside whatever else uses it. */
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

const MAKERS: Record<string, () => Promise<OwnDatabase>> = {
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
const make = (engine: string) => (MAKERS[engine] as () => Promise<OwnDatabase>)();

const WAYS = ["SQLite", "PostgreSQL"].flatMap((from) => ["SQLite", "PostgreSQL"].map((to) => [from, to] as const));
const THERE_AND_BACK = WAYS.filter(([from, to]) => from !== to);

/** Runs `use` with the storage of a database, which it makes when it is not there. */
async function using<Result>({ url }: OwnDatabase, use: (storage: Storage) => Promise<Result>): Promise<Result> {
  const storage = await openStorage(url, { forServer: true, poolSize: 10 });
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}

const insertAll = (storage: Storage, plants: readonly StoredPlant[]) =>
  Promise.all(plants.map(({ owner, idempotencyKey, ...plant }) => storage.insertPlant(owner, plant, idempotencyKey)));

/** Makes a database that holds these plants and tokens. */
async function fill(database: OwnDatabase, plants: readonly StoredPlant[], tokens: readonly Token[] = []) {
  await using(database, async (storage) => {
    for (let first = 0; first < plants.length; first += 2_000)
      await insertAll(storage, plants.slice(first, first + 2_000));
    await Promise.all(tokens.map((token) => storage.insertToken(token)));
  });
  return database;
}

/** All that a database holds. */
const contents = (database: OwnDatabase) =>
  using(database, async (storage) => ({
    plants: await storage.selectStored(undefined, 1_000_000),
    tokens: await storage.selectTokens(),
  }));

const copy = (from: OwnDatabase, to: OwnDatabase, ...flags: string[]): Promise<Run> =>
  run(["copy", "--from", from.url, "--to", to.url, ...flags]);

const success = (copied: number, counts: string): Run => ({
  exitCode: 0,
  stdout: `${copied} plant${copied === 1 ? "" : "s"} copied; verified equal in both databases: ${counts}\n`,
  stderr: "",
});
/** What a copy that goes on later says, or that failed for a reason to be mended before. */
const failure = (reason: string): Run => ({
  exitCode: 1,
  stdout: "",
  stderr: `plantstore: ${reason}; to go on, run the same command with --resume\n`,
});

const plant = (owner: string, id: bigint | number, more: Partial<StoredPlant> = {}): StoredPlant => ({
  owner,
  id: BigInt(id),
  name: `plant ${id}`,
  idempotencyKey: undefined,
  ...more,
});
const many = (count: number, owner = "ann") => Array.from({ length: count }, (_, id) => plant(owner, id));

const TEXTS = ["\u0001\u001f", " spaced\t", "\u2028\u2029", "a\u0301", "\u00e1", "\ufeffmark", "\uffff", "\u{10ffff}"];
TEXTS.push(`"],["`, `"'\\`, "\\u0000", "null", "'; DROP TABLE plants; --", "\u202eabc", "\u{1f331}\u200d\u{1f33c}");
/** Owners next to each other whose order differs between UTF-8, UTF-16 and languages, each with every kind of plant. */
const GARDEN = [...TEXTS, "A", "a", "a ", "B", "\uff21", "\u{10000}", "x".repeat(255), "\u{1f33f}".repeat(255)].flatMap(
  (owner, n) => [
    plant(owner, ID_MIN, { name: TEXTS[n % TEXTS.length] as string, tag: "" }),
    plant(owner, -(2n ** 53n) - 1n, { tag: TEXTS[n % TEXTS.length] as string, idempotencyKey: "k" }),
    plant(owner, 0, { name: "\u{1f33f}".repeat(1_024), tag: "\u{10ffff}".repeat(255) }),
    plant(owner, 2n ** 53n + 1n, { idempotencyKey: "~".repeat(255) }),
    plant(owner, ID_MAX, { tag: "null", idempotencyKey: "null" }),
  ],
);
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

describe("plantstore copy, called wrongly,", () => {
  const there = { url: `sqlite:${newPath()}` };
  const secret = "s3cret";
  const server = `postgres://ann:${secret}@127.0.0.1:1/plants`;
  const misuses: [args: readonly string[], reason: RegExp][] = [
    [[], /--from or PLANTSTORE_FROM is required; --to or PLANTSTORE_TO is required/],
    [["--from", server], /--to or PLANTSTORE_TO is required/],
    [["--from", "plants.db", "--to", `mysql:${secret}`], /--from must be sqlite:.*--to must be sqlite:/],
    [["--from", server, "--to", there.url, "--pool-size", "1"], /--pool-size must be/],
    [["--from", server, "--to", there.url, "--query-timeout", "5"], /--query-timeout must be/],
    [["--from", server, "--to", server], /name the same database/],
    [["--from", server, "--to", "postgresql://bob@127.0.0.1:1/%70lants?sslmode=prefer"], /name the same database/],
    [["--from", there.url, "--to", there.url.replace("plants.db", "./plants.db")], /name the same database/],
    [[`--form=${server}`, "--to", there.url], /unknown option '--form'/],
    [[server, there.url], /too many arguments/],
  ];
  it.each(misuses)("fails with exit code 2 in one line and makes nothing: %j", async (args, reason) => {
    const { exitCode, stdout, stderr } = await run(["copy", ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(reason);
    expect(stderr).toMatch(/^plantstore: .*\n$/);
    expect(stderr).not.toContain(secret);
    expect(existsSync(join(folder.path, "1"))).toBe(false);
  });

  it("knows a file by all its names", async () => {
    const from = await fill(await make("SQLite"), []);
    const alias = join(folder.path, "alias.db");
    symlinkSync(from.url.slice("sqlite:".length), alias);
    const { exitCode, stderr } = await run(["copy", "--from", from.url, "--to", `sqlite:${alias}`]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: "plantstore: --from and --to name the same database\n",
    });
  });
});

describe("plantstore copy without a source", () => {
  it("makes neither a file nor a folder", async () => {
    const [from, to] = [newPath(), newPath()];
    const result = await run(["copy", "--from", `sqlite:${from}`, "--to", `sqlite:${to}`]);
    expect(result).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `plantstore: there is no database ${from}: name one that is there\n`,
    });
    expect([join(from, ".."), join(to, "..")].map(existsSync)).toEqual([false, false]);
  });

  it("makes no tables, and says nothing of a password", async () => {
    const [from, to] = [await make("PostgreSQL"), await make("SQLite")];
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

describe.each(WAYS)("plantstore copy from %s to %s", (fromEngine, toEngine) => {
  const owners = new Set(GARDEN.map(({ owner }) => owner)).size;

  it("brings over all plants with their keys and all tokens, exactly, and once", async () => {
    const from = await fill(await make(fromEngine), GARDEN, TOKENS);
    const to = await make(toEngine);
    const counts = `${GARDEN.length} plants, ${owners} owners, ${TOKENS.length} tokens`;
    expect(await copy(from, to)).toEqual(success(GARDEN.length, counts));
    const [ours, theirs] = [await contents(from), await contents(to)];
    expect(theirs).toStrictEqual(ours);
    expect([theirs.plants.length, theirs.tokens.length]).toEqual([GARDEN.length, TOKENS.length]);
    expect(await copy(from, to, "--resume")).toEqual(success(0, counts));
    expect(await contents(to)).toStrictEqual(ours);
  });

  it("copies an empty database, and makes no token", async () => {
    const from = await fill(await make(fromEngine), []);
    const to = await make(toEngine);
    expect(await copy(from, to)).toEqual(success(0, "0 plants, 0 owners, 0 tokens"));
    expect(await contents(to)).toEqual({ plants: [], tokens: [] });
  });

  it("brings over many owners of one plant each", async () => {
    const from = await fill(
      await make(fromEngine),
      Array.from({ length: 1_500 }, (_, n) => plant(`owner ${n}`, 1)),
    );
    const to = await make(toEngine);
    expect(await copy(from, to)).toEqual(success(1_500, "1500 plants, 1500 owners, 0 tokens"));
    expect(await contents(to)).toStrictEqual(await contents(from));
  });
});

describe.each(["SQLite", "PostgreSQL"])("plantstore copy to %s", (engine) => {
  const holdings: [words: string, plants: number, tokens: number][] = [
    ["0 plants and 1 token", 0, 1],
    ["1 plant and 0 tokens", 1, 0],
    ["at least 1000 plants and 2 tokens", 1_500, 2],
  ];
  it.each(holdings)("refuses a target with %s, and leaves it alone", async (words, plants, tokens) => {
    const from = await fill(await make("SQLite"), many(2_000));
    const to = await fill(await make(engine), many(plants), TOKENS.slice(0, tokens));
    const before = await contents(to);
    expect(await copy(from, to)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `plantstore: the target has ${words} already: name an empty database with --to, or --resume a copy that was interrupted\n`,
    });
    expect(await contents(to)).toStrictEqual(before);
  });

  const PLANTS = [...many(2_500), plant("\uffff", 1, { tag: "", idempotencyKey: "k" }), plant("\u{10000}", 1)];
  const COUNTS = `${PLANTS.length} plants, 3 owners, ${TOKENS.length} tokens`;

  it("resumes by inserting what is missing, wherever that is, and nothing else", async () => {
    const from = await fill(await make("SQLite"), PLANTS, TOKENS);
    const isThere = ({ owner, id }: StoredPlant) =>
      owner === "\u{10000}" || (owner === "ann" && (id < 1_100n || id % 3n === 0n));
    const there = PLANTS.filter(isThere);
    const to = await fill(await make(engine), there, TOKENS.slice(2));
    expect(await copy(from, to, "--resume")).toEqual(success(PLANTS.length - there.length, COUNTS));
    expect(await contents(to)).toStrictEqual(await contents(from));
  });

  it("resumes with tokens that were used or revoked since", async () => {
    const from = await fill(await make("SQLite"), PLANTS, TOKENS);
    const to = await fill(await make(engine), PLANTS.slice(0, 10), TOKENS);
    await using(from, async (storage) => {
      const [revoked, used] = TOKENS.map(({ digest }) => digest) as [string, string];
      await storage.revokeToken(revoked, 77);
      await storage.noteTokenUses(new Map([revoked, used].map((digest) => [digest, 78])));
    });
    expect(await copy(from, to, "--resume")).toEqual(success(PLANTS.length - 10, COUNTS));
    expect(await contents(to)).toStrictEqual(await contents(from));
  });

  const DIFFERENT = (what: string) =>
    `${what} in the target than in the source: remove it there, or copy to an empty database`;
  const EXTRA = (what: string) => `${what}, which the source has not: remove it there, or copy to an empty database`;
  const strangers: [what: string, stranger: StoredPlant | Token, reason: string][] = [
    ["another name", plant("ann", 1_700, { name: "Plant 1700" }), DIFFERENT('owner "ann" has another plant 1700')],
    ["a tag", plant("ann", 0, { tag: "" }), DIFFERENT('owner "ann" has another plant 0')],
    [
      "another tag",
      plant("\uffff", 1, { tag: "x", idempotencyKey: "k" }),
      DIFFERENT('owner "\uffff" has another plant 1'),
    ],
    [
      "another key",
      plant("\uffff", 1, { tag: "", idempotencyKey: "K" }),
      DIFFERENT('owner "\uffff" has another plant 1'),
    ],
    ["no key", plant("\uffff", 1, { tag: "" }), DIFFERENT('owner "\uffff" has another plant 1')],
    ["a plant before all", plant("ann", -1), EXTRA('owner "ann" has a plant -1 in the target')],
    ["a plant between owners", plant("ann", 2_500), EXTRA('owner "ann" has a plant 2500 in the target')],
    ["an owner between", plant("\uffff\uffff", 1), EXTRA('owner "\uffff\uffff" has a plant 1 in the target')],
    ["an owner after all", plant("\u{10001}", 1), EXTRA('owner "\u{10001}" has a plant 1 in the target')],
    [
      "a token",
      { ...(TOKENS[0] as Token), digest: "e".repeat(64) },
      EXTRA('the target has token eeeeeeeeeeee of owner "ann"'),
    ],
  ];
  it.each(strangers)("does not resume, and changes nothing, where the target has %s", async (_, stranger, reason) => {
    const from = await fill(await make("SQLite"), PLANTS, TOKENS);
    const to = await make(engine);
    await fill(to, many(3), TOKENS.slice(1));
    if ("digest" in stranger) await using(to, (storage) => storage.insertToken(stranger));
    else
      await using(to, async (storage) => {
        await storage.removePlant(stranger.owner, stranger.id);
        await insertAll(storage, [stranger]);
      });
    const before = await contents(to);
    expect(await copy(from, to, "--resume")).toEqual(failure(reason));
    expect(await contents(to)).toStrictEqual(before);
    if ("digest" in stranger) return;
    await using(to, (storage) => storage.removePlant(stranger.owner, stranger.id));
    expect((await copy(from, to, "--resume")).exitCode).toBe(0);
  });

  const NOTHING_WRITES = "see that nothing writes to either";
  const notEqual = (what: string, counts: string) =>
    `${what} is not the same in both databases, ${counts}: ${NOTHING_WRITES}`;
  const lies: [what: string, table: string, change: string, reason: string][] = [
    [
      "alters a name",
      "plants",
      "UPDATE plants SET name = 'Nettle' WHERE owner = NEW.owner AND id = NEW.id AND id = 7",
      notEqual('owner "ann"', "2500 plants in each, not all alike"),
    ],
    [
      "forgets a tag",
      "plants",
      "UPDATE plants SET tag = NULL WHERE owner = NEW.owner AND id = NEW.id AND owner = '\uffff'",
      notEqual('owner "\uffff"', "1 plant in each, not all alike"),
    ],
    [
      "alters a key",
      "plants",
      "UPDATE plants SET idempotency_key = 'K' WHERE owner = NEW.owner AND id = NEW.id AND idempotency_key = 'k'",
      notEqual('owner "\uffff"', "1 plant in each, not all alike"),
    ],
    [
      "loses a plant",
      "plants",
      "DELETE FROM plants WHERE owner = NEW.owner AND id = NEW.id AND id = 2499",
      notEqual('owner "ann"', "2500 plants in the source, 2499 plants in the target"),
    ],
    [
      "loses an owner",
      "plants",
      "DELETE FROM plants WHERE owner = NEW.owner AND id = NEW.id AND owner = '\uffff'",
      notEqual('owner "\uffff"', "1 plant in the source, 0 plants in the target"),
    ],
    [
      "adds an owner",
      "plants",
      "INSERT INTO plants (owner, id, name) SELECT 'zoe', 1, 'Fern' WHERE NEW.id = 7",
      notEqual('owner "zoe"', "0 plants in the source, 1 plant in the target"),
    ],
    [
      "alters the scopes of a token",
      "tokens",
      "UPDATE tokens SET scopes = 'plants:write' WHERE digest = NEW.digest AND scopes = 'plants:read'",
      notEqual('token bbbbbbbbbbbb of owner "\u{10000}"', "or only in one of them"),
    ],
  ];
  it.each(lies)("notices a target that %s", async (_, table, change, reason) => {
    const from = await fill(await make("SQLite"), PLANTS, TOKENS);
    const to = await fill(await make(engine), []);
    await to.query(
      engine === "SQLite"
        ? `CREATE TRIGGER meddle AFTER INSERT ON ${table} BEGIN ${change}; END`
        : `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${change}; RETURN NULL; END $$;
           CREATE TRIGGER meddle AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION meddle()`,
    );
    expect(await copy(from, to)).toEqual(failure(reason));
  });
});

describe("plantstore copy beside others", () => {
  it("refuses a file on which a server runs, on either side, and leaves the other side alone", async () => {
    const served = await fill(await make("SQLite"), many(3));
    const server = await startProgram(["--database", served.url]);
    const other = await fill(await make("SQLite"), []);
    for (const [from, to] of [
      [served, other],
      [other, served],
    ] as const) {
      const { exitCode, stdout, stderr } = await copy(from, to);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^plantstore: another server is running on \S+plants.db, or a copy: stop it first.*\n$/);
    }
    expect(await contents(other)).toEqual({ plants: [], tokens: [] });
    expect(await server.stop()).toBe(0);
    expect((await copy(served, other)).exitCode).toBe(0);
  });

  it("gives up when the server does not answer in time, and goes on later", async () => {
    const from = await fill(await make("SQLite"), many(500));
    const { url, query, holding, drop } = await newPostgresDatabase();
    removals.push(drop);
    const to = await fill({ url, query }, []);
    await holding("LOCK TABLE plants IN SHARE MODE", async () => {
      const { exitCode, stdout, stderr } = await copy(from, to, "--query-timeout", "200ms");
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(/^plantstore: the database .*; to go on, run the same command with --resume\n$/);
    });
    expect(await copy(from, to, "--resume")).toEqual(success(500, "500 plants, 1 owner, 0 tokens"));
  });
});

describe("a copy between engines that answer at once", () => {
  it("hears of a stop while it compares and while it verifies", async () => {
    const [from, to] = [await fill(await make("SQLite"), many(5_000)), await fill(await make("SQLite"), many(5_000))];
    await using(from, (source) =>
      using(to, async (target) => {
        for (const work of [compare, verify]) {
          const stop = new AbortController();
          setImmediate(() => stop.abort(new Error("enough")));
          await expect(work({ source, target, signal: stop.signal }, () => {})).rejects.toThrow("enough");
        }
      }),
    );
  });
});

describe.each(THERE_AND_BACK)("a copy from %s to %s that is stopped", (fromEngine, toEngine) => {
  const COUNT = 80_000;
  /** How many plants the target has by now, while the copy may still be making its tables. */
  const countIn = async (to: OwnDatabase): Promise<number> => {
    if (toEngine === "SQLite" && !existsSync(to.url.slice("sqlite:".length))) return 0;
    const rows = await to.query<{ count: number }>("SELECT count(*) AS count FROM plants").catch(() => []);
    return Number(rows[0]?.count ?? 0);
  };

  it("by a signal or killed is refused without --resume, and goes on with it to the end", async () => {
    const from = await fill(await make(fromEngine), many(COUNT), TOKENS);
    const to = await make(toEngine);
    let copied = 0;
    for (const signal of ["SIGTERM", "SIGINT", "SIGKILL"] as const) {
      const args = commandLine(["copy", "--from", from.url, "--to", to.url, ...(copied === 0 ? [] : ["--resume"])]);
      const child = track(Bun.spawn(args, { stdin: "ignore", stdout: "pipe", stderr: "pipe" }));
      while ((await countIn(to)) <= copied) expect(child.exitCode).toBeNull();
      child.kill(signal);
      const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map((each) => new Response(each).text()));
      await child.exited;
      if (signal === "SIGKILL") expect(child.signalCode).toBe(signal);
      else expect({ exitCode: child.exitCode, stdout, stderr } as Run).toEqual(failure(`stopped by ${signal}`));
      copied = await countIn(to);
      expect(copied).toBeWithin(1, COUNT);
      expect(await using(to, (storage) => storage.selectTokens())).toEqual([]);
      expect((await copy(from, to)).stderr).toMatch(/^plantstore: the target has .* plants and 0 tokens already: /);
    }
    const { exitCode, stdout } = await copy(from, to, "--resume");
    expect(stdout).toEndWith(` plants copied; verified equal in both databases: ${COUNT} plants, 1 owner, 4 tokens\n`);
    expect({ exitCode, isRest: Number.parseInt(stdout, 10) <= COUNT - copied }).toEqual({
      exitCode: 0,
      isRest: true,
    });
    expect(Bun.deepEquals(await contents(to), await contents(from), true)).toBe(true);
  });
});

describe.each(THERE_AND_BACK)("a server on what was copied from %s to %s", (fromEngine, toEngine) => {
  it("knows every token as it was, and answers a create that is asked again", async () => {
    const [from, to] = [await make(fromEngine), await make(toEngine)];
    const first = await startProgram(["--drain", "0s"], { PLANTSTORE_DATABASE: from.url });
    const mint = (more: object = {}) =>
      using(from, (storage) => new Tokens(storage).create({ owner: "ann", scopes: SCOPES, ...more }));
    await first.stop();
    const [full, reader, expired, revoked] = [
      await mint(),
      await mint({ scopes: ["plants:read"], label: "shop" }),
      await mint({ expiresAt: 1 }),
      await mint(),
    ];
    await using(from, (storage) => new Tokens(storage).revoke(revoked));
    const create = (url: string, token: string, key: string) =>
      fetch(`${url}/plants`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": key },
        body: `{"id":${ID_MAX},"name":"Clarkia","tag":""}`,
      });
    const list = (url: string, token: string) =>
      fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${token}` } });
    const second = await startProgram(["--drain", "0s"], { PLANTSTORE_DATABASE: from.url });
    expect((await create(second.url, full, "k-1")).status).toBe(200);
    await second.stop();
    const listed = async ({ url }: OwnDatabase) => (await run(["token", "list", "--json", "--database", url])).stdout;
    const tokens = await listed(from);
    expect((await copy(from, to)).exitCode).toBe(0);
    expect(await listed(to)).toBe(tokens);

    const third = await startProgram(["--drain", "0s"], { PLANTSTORE_DATABASE: to.url });
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

describe.each(THERE_AND_BACK)("a copy of many plants from %s to %s", (fromEngine, toEngine) => {
  it("takes no more memory than one of some", async () => {
    const from = await make(fromEngine);
    const name = "n".repeat(500);
    let count = 0;
    /** Copies so many plants to a new database: the most memory that the program had, in bytes. */
    const peak = async (wanted: number): Promise<number> => {
      await using(from, async (storage) => {
        while (count < wanted) {
          await insertAll(
            storage,
            Array.from({ length: 2_000 }, (_, n) => plant("ann", count + n, { name })),
          );
          count += 2_000;
        }
      });
      const to = await make(toEngine);
      const startedMs = performance.now();
      const args = commandLine(["copy", "--from", from.url, "--to", to.url]);
      const child = track(Bun.spawn(args, { stdin: "ignore", stdout: "pipe", stderr: "inherit" }));
      const stdout = await new Response(child.stdout).text();
      expect(await child.exited).toBe(0);
      expect(stdout).toBe(success(count, `${count} plants, 1 owner, 0 tokens`).stdout);
      const peakBytes = child.resourceUsage()?.maxRSS ?? Number.NaN;
      if (MANY > 100_000)
        console.log(
          `${wanted} plants: ${Math.round(peakBytes / 2 ** 20)} MiB, ${Math.round(performance.now() - startedMs)} ms`,
        );
      return peakBytes;
    };
    const some = await peak(20_000);
    expect((await peak(MANY)) - some).toBeLessThan(MAX_GROWTH_BYTES);
  });
});
