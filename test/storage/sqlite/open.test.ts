import { afterAll, describe, expect, it, setDefaultTimeout } from "bun:test";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { openStorage } from "../../../src/storage/open.ts";
import { toOpenError } from "../../../src/storage/sqlite/open-error.ts";
import { commandLine, createToken, run, track } from "../../support/program.ts";
import { useServerProcesses } from "../../support/server-processes.ts";
import { temporaryFolder } from "../../support/service.ts";

setDefaultTimeout(60_000);

const folder = temporaryFolder();
afterAll(() => folder.remove());
const startServerProcess = useServerProcesses();

let folders = 0;
/** Returns the path of a missing database in a new folder. */
function newPath(): string {
  const path = join(folder.path, `${++folders}`, "plants.db");
  mkdirSync(dirname(path));
  return path;
}

const open = (path: string, forServer = true) => openStorage({ engine: "sqlite", file: path }, { forServer });

/** Creates a database with one token and closes it. */
async function newDatabase(): Promise<string> {
  const path = newPath();
  await createToken(`sqlite:${path}`, "ann");
  return path;
}

describe("a database path that cannot be opened", () => {
  const cases: [description: string, make: (path: string) => void, suffix: string, reason: RegExp][] = [
    ["a folder", (path) => mkdirSync(path), "", /plants.db is a folder: use a file in it/],
    ["a path through a file", (path) => writeFileSync(path, ""), "/a.db", /plants.db: it is not a folder: use another/],
    ["a path deep below a file", (path) => writeFileSync(path, ""), "/a/b/c.db", /plants.db: it is not a folder: use/],
    ["a loop of symbolic links", (path) => symlinkSync(path, path), "", /symbolic links form a loop: use another/],
    ["a link into a missing folder", (path) => symlinkSync("no/a.db", path), "", /missing folder: create that folder/],
    ["a name that is too long", () => {}, "a".repeat(300), /the path is too long: use another file/],
  ];
  for (const [description, make, suffix, reason] of cases) {
    it(`is rejected with the cause and the remedy: ${description}`, async () => {
      const path = newPath();
      make(path);
      const names = readdirSync(dirname(path));
      for (const forServer of [true, false]) {
        const failure = await open(path + suffix, forServer).catch((error: Error) => error);
        expect(failure).toBeInstanceOf(Error);
        expect((failure as Error).message).toMatch(reason);
        expect((failure as Error).message).not.toContain("\n");
      }
      expect(readdirSync(dirname(path))).toEqual(names);
    });
  }

  it("is rejected with the free space of the disk when no file can grow", async () => {
    const path = newPath();
    const command = commandLine(["serve", "--port", "0", "--admin-port", "off", "--database", `sqlite:${path}`]);
    const limited = ["sh", "-c", `trap "" XFSZ; ulimit -f 0; exec "$@"`, "sh", ...command];
    const child = track(Bun.spawn(limited, { stdout: "ignore", stderr: "pipe" }));
    expect(await new Response(child.stderr).text()).toMatch(
      /^plantstore: the database .*plants.db cannot be used: its files cannot be written \(SQLITE_.*\), although .* bytes and .* free: .*limit\n$/,
    );
    expect(await child.exited).toBe(1);
  });
});

describe("toOpenError", () => {
  const cases: [code: string, reason: RegExp][] = [
    ["EACCES", /^the database .*plants.db cannot be used: .*: this user may not read and write it: change its owner/],
    ["EROFS", /: the file system is read-only: mount it writable/],
    ["ENOSPC", /: the disk is full \(ENOSPC\): .* has \d+ bytes and \d+ inodes free: free up space/],
    ["SQLITE_FULL", /: the disk is full \(SQLITE_FULL\): .*: free up space/],
    ["SQLITE_IOERR_SHMSIZE", /: its files cannot be written \(SQLITE_IOERR_SHMSIZE: disk I\/O error\), although/],
    ["SQLITE_BUSY", /: another process has locked it: wait/],
    ["SQLITE_PROTOCOL", /: disk I\/O error \(SQLITE_PROTOCOL\)$/],
  ];
  for (const [code, reason] of cases) {
    it(`names the cause and the remedy: ${code}`, () => {
      const path = newPath();
      const failure = toOpenError(path, Object.assign(new Error("disk I/O error"), { code }));
      expect(failure.message).toMatch(reason);
    });
  }
});

describe("a database file with two hard links", () => {
  it("is rejected by every command, under either name", async () => {
    const [path, backup] = [await newDatabase(), await newDatabase()];
    const other = join(dirname(path), "other.db");
    linkSync(path, other);
    const bytes = readFileSync(path);
    const database = ["--database", `sqlite:${path}`];
    const fresh = newPath();
    const commands = [
      ["serve", "--port", "0", "--admin-port", "off", ...database],
      ["serve", "--port", "0", "--admin-port", "off", "--database", `sqlite:${other}`],
      ["token", "list", ...database],
      ["check", ...database],
      ["backup", fresh, ...database],
      ["restore", path, "--database", `sqlite:${fresh}`],
      ["restore", backup, "--force", ...database],
      ["copy", "--from", `sqlite:${path}`, "--to", `sqlite:${fresh}`],
    ];
    for (const command of commands) {
      const { exitCode, stdout, stderr } = await run(command);
      expect({ command, exitCode, stdout }).toEqual({ command, exitCode: 1, stdout: "" });
      expect(stderr).toMatch(
        /^plantstore: the database .* has 2 hard links, .* own WAL and lock: find .* or use a copy\n$/,
      );
    }
    expect(existsSync(fresh)).toBe(false);
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });
});

describe("a restore interrupted between its two renames", () => {
  it("prevents commands from creating an empty database, and can be repeated", async () => {
    const [path, backup] = [await newDatabase(), await newDatabase()];
    const database = ["--database", `sqlite:${path}`];
    const replaced = `${path}.replaced-20261122T000000Z`;
    const bytes = readFileSync(path);
    renameSync(path, replaced);
    for (const command of [
      ["serve", "--port", "0", "--admin-port", "off"],
      ["token", "create", "--owner", "ann"],
    ]) {
      const { exitCode, stdout, stderr } = await run([...command, ...database]);
      expect({ command, exitCode, stdout }).toEqual({ command, exitCode: 1, stdout: "" });
      expect(stderr).toContain(
        `the database ${path} is missing, but ${replaced} shows that it was in use: move it back`,
      );
    }
    expect(existsSync(path)).toBe(false);
    expect(await run(["restore", backup, ...database])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await run(["check", ...database])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readFileSync(replaced).equals(bytes)).toBe(true);
  });

  it("is not assumed when an earlier restore left a replaced database", async () => {
    const [path, backup] = [await newDatabase(), await newDatabase()];
    const database = ["--database", `sqlite:${path}`];
    expect(await run(["restore", backup, "--force", ...database])).toMatchObject({ exitCode: 0 });
    const replaced = readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"));
    await (await startServerProcess(database)).stop();
    expect(readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"))).toEqual(replaced);
    expect(replaced.length).toBe(1);
  });
});

describe("a symbolic link to a missing database", () => {
  it("uses the same lock before and after the database exists", async () => {
    const path = newPath();
    const alias = join(dirname(path), "alias.db");
    symlinkSync("plants.db", alias);
    const storage = await open(alias);
    for (const name of [alias, path]) await expect(open(name)).rejects.toThrow("another server is running");
    await storage.close();
    expect(readdirSync(dirname(path)).sort()).toEqual(["alias.db", "plants.db", "plants.db.server-lock"]);
  });
});
