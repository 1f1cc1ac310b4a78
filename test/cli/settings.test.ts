import { afterAll, describe, expect, it } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfig, UsageError } from "../../src/config/config.ts";
import { INVALID } from "../../src/config/kinds.ts";
import { flagOf, namesOf, SERVE_SETTINGS, SETTINGS, type Setting, variableOf } from "../../src/config/settings.ts";
import { run } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

const POSTGRES = "postgres://user@127.0.0.1:1/plants";
const TLS_PROBLEM = "--tls-cert and --tls-key must be set together";
const ISSUER_PROBLEM = "--issuer, --audience, and --jwks-url must be set together";
const BACKUP_PROBLEM =
  "--backup-dir supports only SQLite: for PostgreSQL, use pg_dump and pg_restore, see docs/operations.md";
const WORKERS_PROBLEM =
  "--workers above 1 requires PostgreSQL, because only one process can serve a SQLite database: set --database";
const LINUX_PROBLEM = "--workers above 1 requires Linux, where processes can share a port";

/** Default values as flags, so that the environment of this test has no effect. */
const DEFAULTS = Object.fromEntries(
  namesOf(SERVE_SETTINGS).map((name) => [name, (SERVE_SETTINGS[name] as Setting<unknown>).default]),
);

/** Reads the settings of `serve` from flags. Returns the problems in the error message. */
function problemsOf(flags: Record<string, string>): string[] {
  try {
    readConfig(namesOf(SERVE_SETTINGS), { ...DEFAULTS, ...flags });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError);
    return (error as Error).message.split("; ");
  }
}

/** Runs `test` as if on this platform. */
function onPlatform(platform: string, test: () => void): void {
  const original = process.platform;
  Object.defineProperty(process, "platform", { value: platform });
  try {
    test();
  } finally {
    Object.defineProperty(process, "platform", { value: original });
  }
}

describe("contradictory settings", () => {
  const [issuer, audience, jwksUrl] = ["https://id.example/", "plants", "https://id.example/keys"];
  const cases: [flags: Record<string, string>, problems: string[]][] = [
    [{ tlsCert: "cert.pem" }, [TLS_PROBLEM]],
    [{ tlsKey: "key.pem" }, [TLS_PROBLEM]],
    [{ tlsCert: "cert.pem", tlsKey: "off" }, [TLS_PROBLEM]],
    [{ tlsCert: "cert.pem", tlsKey: "key.pem" }, []],
    [{ issuer }, [ISSUER_PROBLEM]],
    [{ audience, jwksUrl }, [ISSUER_PROBLEM]],
    [{ issuer, jwksUrl }, [ISSUER_PROBLEM]],
    [{ issuer, audience, jwksUrl }, []],
    [{ backupDir: "backups", database: POSTGRES }, [BACKUP_PROBLEM]],
    [{ backupDir: "backups" }, []],
    [{ backupDir: "off", database: POSTGRES }, []],
    [{ workers: "2" }, [WORKERS_PROBLEM]],
    [{ workers: "2", database: POSTGRES }, []],
    [{ workers: "1" }, []],
  ];
  it.each(cases)("%j: %j", (flags, problems) => {
    onPlatform("linux", () => expect(problemsOf(flags)).toEqual(problems));
  });

  it("rejects several workers on other systems than Linux", () => {
    onPlatform("darwin", () => {
      expect(problemsOf({ workers: "2", database: POSTGRES })).toEqual([LINUX_PROBLEM]);
      expect(problemsOf({ database: POSTGRES })).toEqual([]);
    });
  });

  it("does not apply a rule to an invalid setting", () => {
    expect(problemsOf({ tlsCert: "cert.pem", tlsKey: "" })).toEqual(["--tls-key must be a path, or off"]);
  });

  it("reports them with all invalid ones in one line, with exit code 2, and creates no file", async () => {
    const args = ["--port", "80a", "--tls-cert", "cert.pem", "--workers", "2", "--audience", "plants"];
    const env = { PLANTSTORE_DRAIN: "soon", PLANTSTORE_TLS_KEY: "" };
    expect(await run(["serve", ...args], { env, cwd: folder.path })).toEqual({
      exitCode: 2,
      stdout: "",
      stderr: `plantstore: --port must be an integer from 0 to 65535; PLANTSTORE_DRAIN must be a duration from 0s to 10m; ${TLS_PROBLEM}; ${ISSUER_PROBLEM}; ${WORKERS_PROBLEM}\n`,
    });
    expect(existsSync(join(folder.path, "data"))).toBe(false);
  });
});

describe("the table of settings", () => {
  it("has only valid defaults", () => {
    const invalid = namesOf(SETTINGS).filter((name) => {
      const { default: preset, parse }: Setting<unknown> = SETTINGS[name];
      return preset !== undefined && parse(preset) === INVALID;
    });
    expect(invalid).toEqual([]);
  });

  it("derives flags and variables from names, except for the standard variable of OpenTelemetry", () => {
    const derived = (["queryTimeout", "jwksUrl", "log", "otlpEndpoint"] as const).map((name) => [
      flagOf(name),
      variableOf(name),
    ]);
    expect(derived).toEqual([
      ["--query-timeout", "PLANTSTORE_QUERY_TIMEOUT"],
      ["--jwks-url", "PLANTSTORE_JWKS_URL"],
      ["--log", "PLANTSTORE_LOG"],
      ["--otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"],
    ]);
  });
});

describe("an environment variable that is not a setting", () => {
  const database = ["--database", `sqlite:${folder.path}/plants.db`];

  it.each([
    ["PLANTSTORE_DATABSE", ": did you mean PLANTSTORE_DATABASE?"],
    ["PLANTSTORE_TLS_CERTS", ": did you mean PLANTSTORE_TLS_CERT?"],
    ["PLANTSTORE_PROT", ": did you mean PLANTSTORE_PORT?"],
    ["PLANTSTORE_port", ": did you mean PLANTSTORE_PORT?"],
    ["PLANTSTORE_SERVICE_HOST", ""],
  ])("causes a warning, not an error: %s", async (name, suggestion) => {
    const { exitCode, stdout, stderr } = await run(["token", "create", "--owner", "ann", ...database], {
      env: { [name]: "x" },
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `plantstore: warning: ${name} is not a setting${suggestion}\n`,
    });
    expect(stdout).toStartWith("plt_");
  });

  it("is reported before the problems of settings", async () => {
    const env = { PLANTSTORE_LOGS: "x", PLANTSTORE_PORT: "x" };
    const { exitCode, stderr } = await run(["serve", ...database], { env });
    expect(exitCode).toBe(2);
    expect(stderr.split("\n").slice(0, -1)).toEqual([
      "plantstore: warning: PLANTSTORE_LOGS is not a setting: did you mean PLANTSTORE_LOG?",
      "plantstore: PLANTSTORE_PORT must be an integer from 0 to 65535",
    ]);
  });

  it("is not reported by a worker, because its supervisor reports it", async () => {
    const { stderr } = await run(["serve", "--worker", "1", ...database], { env: { PLANTSTORE_LOGS: "x" } });
    expect(stderr).toMatch(/^plantstore: --worker .*\n$/);
  });
});
