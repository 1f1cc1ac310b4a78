import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStorage } from "../../../src/storage/open.ts";
import { newAuthority } from "../../support/certificates.ts";
import {
  newPostgresDatabase,
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../../support/postgres.ts";
import { run } from "../../support/program.ts";
import { temporaryFolder } from "../../support/service.ts";

const TIMEOUT_MS = 60_000;
/** Two names of the server: only the first one is in its certificate. */
const [NAMED, UNNAMED] = ["localhost", "127.0.0.1"];
const UNTRUSTED = /unable to verify|self.signed certificate|signature failure/;
/** A user that can log in only with a certificate. */
const CERTIFIED = "certified";

const folder = temporaryFolder();
const [authority, otherAuthority] = [newAuthority(), newAuthority()];
let server: PostgresServer;
let database: PostgresDatabase;
let plain: PostgresDatabase;
beforeAll(async () => {
  const { cert, key } = authority.issue("localhost");
  server = await startPostgres({
    settings: { ssl: "on", ssl_ca_file: "root.crt" },
    files: {
      "root.crt": authority.certificate,
      "server.crt": cert,
      "server.key": key,
      "pg_hba.conf": `hostssl all ${CERTIFIED} all cert\nhost all postgres all scram-sha-256\n`,
    },
  });
  database = await server.newDatabase();
  plain = await newPostgresDatabase();
}, TIMEOUT_MS);
afterAll(async () => {
  await plain.drop();
  await server.stop();
  folder.remove();
});

/** Creates a file and returns its path. */
function newFile(name: string, content: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}
/** Values of `sslrootcert`. */
const ROOTS = {
  "its authority": { sslrootcert: newFile("its.crt", authority.certificate) },
  "another authority": { sslrootcert: newFile("another.crt", otherAuthority.certificate) },
  "no authority": {},
  "a missing file": { sslrootcert: join(folder.path, "missing.crt") },
};

/** Returns the URL of a database with another host and additional parameters. */
function urlOf({ url }: PostgresDatabase, host: string, parameters: Record<string, string>): string {
  const changed = new URL(url);
  changed.hostname = host;
  for (const [name, value] of Object.entries(parameters)) changed.searchParams.set(name, value);
  return changed.href;
}

/** Opens a storage and returns whether its connections are encrypted. */
async function isEncrypted(url: string, { query }: PostgresDatabase): Promise<boolean> {
  const storage = await openStorage({ engine: "postgres", url }, { forServer: true });
  const rows = await Promise.all([
    storage.insertPlant("ann", { id: 1n, name: "Fern" }, "k"),
    storage.selectPlants("ann", { limit: 1 }),
  ]).then(() =>
    query<{ ssl: boolean }>(
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'plantstore'",
    ),
  );
  await storage.close();
  expect(rows.length).toBeGreaterThan(1);
  expect(new Set(rows.map(({ ssl }) => ssl)).size).toBe(1);
  return rows[0]?.ssl ?? false;
}

describe("openStorage with a PostgreSQL server that supports TLS", () => {
  const rejected: [mode: string, root: keyof typeof ROOTS, host: string, reason: RegExp][] = [
    ["verify-full", "another authority", NAMED, UNTRUSTED],
    ["verify-full", "no authority", NAMED, UNTRUSTED],
    ["verify-full", "its authority", UNNAMED, /does not match certificate/],
    ["verify-ca", "another authority", NAMED, UNTRUSTED],
    ["verify-ca", "no authority", NAMED, UNTRUSTED],
    ["require", "another authority", NAMED, UNTRUSTED],
    ["require", "its authority", UNNAMED, /does not match certificate/],
    ["verify-full", "a missing file", NAMED, /caFile/],
    ["encrypt", "its authority", NAMED, /sslmode.*must be one of: disable/],
  ];
  it.each(rejected)("rejects a server with sslmode %s and %s at %s", async (sslmode, root, host, reason) => {
    const opening = openStorage(
      { engine: "postgres", url: urlOf(database, host, { sslmode, ...ROOTS[root] }) },
      { forServer: true },
    );
    await expect(opening).rejects.toThrow(reason);
  });

  const accepted: [mode: string, root: keyof typeof ROOTS, host: string, isEncrypted: boolean][] = [
    ["verify-full", "its authority", NAMED, true],
    ["verify-ca", "its authority", UNNAMED, true],
    ["require", "no authority", UNNAMED, true],
    ["prefer", "no authority", UNNAMED, true],
    ["disable", "no authority", UNNAMED, false],
  ];
  it.each(accepted)("accepts a server with sslmode %s and %s at %s", async (sslmode, root, host, tls) => {
    expect(await isEncrypted(urlOf(database, host, { sslmode, ...ROOTS[root] }), database)).toBe(tls);
  });

  it("logs in with a client certificate instead of a password", async () => {
    await database.query(`CREATE ROLE ${CERTIFIED} LOGIN SUPERUSER`);
    const { cert, key } = authority.issue(CERTIFIED);
    const [sslcert, sslkey] = [newFile("client.crt", cert), newFile("client.key", key)];
    const url = new URL(urlOf(database, NAMED, { sslmode: "verify-full", ...ROOTS["its authority"] }));
    [url.username, url.password] = [CERTIFIED, ""];
    await expect(openStorage({ engine: "postgres", url: url.href }, { forServer: true })).rejects.toThrow(
      "certificate",
    );
    expect(await isEncrypted(urlOf({ ...database, url: url.href }, NAMED, { sslcert, sslkey }), database)).toBe(true);
  });

  it("verifies the certificate even if NODE_TLS_REJECT_UNAUTHORIZED is 0", async () => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    for (const sslmode of ["verify-full", "verify-ca", "require"]) {
      const url = urlOf(database, NAMED, { sslmode, ...ROOTS["another authority"] });
      const { exitCode, stderr } = await run(["token", "list", "--database", url], { env });
      expect({ sslmode, exitCode }).toEqual({ sslmode, exitCode: 1 });
      expect(stderr).toMatch(/^plantstore: cannot use the database localhost:.*\n$/);
      expect(stderr).toMatch(UNTRUSTED);
    }
  });
});

describe("openStorage with a PostgreSQL server without TLS", () => {
  it.each(["require", "verify-ca", "verify-full"])("rejects the server with sslmode=%s", async (sslmode) => {
    await expect(
      openStorage({ engine: "postgres", url: urlOf(plain, "127.0.0.1", { sslmode }) }, { forServer: true }),
    ).rejects.toThrow("does not support SSL");
  });

  it("accepts the server with sslmode=prefer", async () => {
    expect(await isEncrypted(urlOf(plain, "127.0.0.1", { sslmode: "prefer" }), plain)).toBe(false);
  });
});
