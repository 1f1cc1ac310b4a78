import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { certificateNameOf, makeCertificate } from "../support/certificates.ts";
import { newPostgresDatabase, type PostgresDatabase } from "../support/postgres.ts";
import { createToken, fetchMetrics, run, type ServerProcess, track } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const TIMEOUT_MS = 60_000;

let database: PostgresDatabase;
/** A second database, for statements that cannot run in the first one. */
let other: PostgresDatabase;
let token: string;
beforeAll(async () => {
  [database, other] = await Promise.all([newPostgresDatabase(), newPostgresDatabase()]);
  token = await createToken(database.url, "ann");
}, TIMEOUT_MS);
afterAll(async () => {
  await database.drop();
  await other.drop();
});

const startServerProcess = useServerProcesses();

async function start(workers: number, ...args: string[]): Promise<ServerProcess> {
  const settings = ["--database", database.url, "--workers", String(workers), "--query-timeout", "30s"];
  return await startServerProcess([...settings, ...args]);
}

/** Sends a request on a new connection, which may go to any worker. Returns the status, or 0 without a response. */
const request = (server: ServerProcess, path = "/livez"): Promise<number> =>
  fetch(server.url + path, { headers: { Authorization: `Bearer ${token}` }, keepalive: false }).then(
    ({ status }) => status,
    () => 0,
  );

/** Returns the number of requests to `/livez` by worker. */
async function countRequests(server: ServerProcess): Promise<Map<number, number>> {
  const text = await fetchMetrics(server);
  const counts = text.matchAll(
    /^plantstore_http_request_duration_seconds_count\{operation="livez",.*worker="(\d+)"\} (\d+)$/gm,
  );
  return new Map([...counts].map(([, worker, count]) => [Number(worker), Number(count)]));
}

/** Returns whether a process has exited. A zombie has an empty command line. */
function hasExited(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") === "";
  } catch {
    return true;
  }
}

const pidOf = (server: ServerProcess, worker: number): number => server.workers().get(worker) as number;
const messages = (server: ServerProcess): unknown[] => server.log().map(({ msg }) => msg);

/** Sends SIGTERM and waits until `/readyz` returns 503. */
async function startDraining(server: ServerProcess): Promise<void> {
  server.process.kill("SIGTERM");
  await until(
    () => request(server, "/readyz"),
    (status) => status === 503,
  );
}

describe("serve --workers", () => {
  it("rejects SQLite with a remedy and creates no file", async () => {
    const folder = temporaryFolder();
    const path = `${folder.path}/plants.db`;
    const { exitCode, stdout, stderr } = await run(["serve", "--workers", "2", "--database", `sqlite:${path}`]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^plantstore: --workers above 1 requires PostgreSQL.*--database.*\n$/);
    expect(await Bun.file(path).exists()).toBe(false);
    folder.remove();
  });

  it("rejects --worker without a supervisor", async () => {
    const { exitCode, stderr } = await run(["serve", "--worker", "1", "--database", database.url]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining("use --workers") });
  });

  it(
    "rejects a port in use, by one server or by other workers",
    async () => {
      for (const workers of [1, 2]) {
        const { url } = await start(workers);
        const { port } = new URL(url);
        const args = ["--database", database.url, "--workers", "2", "--port", port, "--admin-port", "off"];
        const { exitCode, stdout, stderr } = await run(["serve", ...args]);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
        expect(stderr).toMatch(new RegExp(`^plantstore: cannot listen on 127.0.0.1:${port}.*\n$`));
      }
    },
    TIMEOUT_MS,
  );

  it("exits with 1 and prints the reason in one line when its workers cannot start", async () => {
    const args = ["--database", `${database.url}_missing`, "--workers", "3", "--port", "0", "--admin-port", "0"];
    const { exitCode, stdout, stderr } = await run(["serve", ...args]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^plantstore: cannot use the database .*_missing.*\n$/);
  });
});

describe("several workers", () => {
  it(
    "print one ready line and one first token, and share one port and one metrics page",
    async () => {
      const server = await startServerProcess(["--database", other.url, "--workers", "3"]);
      await server.printed(/curl .*\n/);
      expect(server.stdout().match(/ready at/g)).toHaveLength(1);
      expect(new Set(server.stdout().match(/plt_\w+/g)).size).toBe(1);
      expect(new Set(server.workers().values()).size).toBe(3);
      let sent = 0;
      const counts = await until(
        async () => {
          await Promise.all(Array.from({ length: 20 }, () => request(server)));
          sent += 20;
          return countRequests(server);
        },
        ({ size }) => size === 3,
      );
      expect([...counts.values()].reduce((sum, count) => sum + count)).toBe(sent);
      const text = await fetchMetrics(server);
      for (const name of ["process_start_time_seconds", "plantstore_build_info", "plantstore_http_requests_pending"]) {
        expect(text.match(new RegExp(`^# TYPE ${name} `, "gm"))).toHaveLength(1);
        expect(text.match(new RegExp(`^${name}\\{.*worker="[123]"\\} `, "gm"))).toHaveLength(3);
      }
    },
    TIMEOUT_MS,
  );

  it(
    "log complete lines with the number of the worker",
    async () => {
      const server = await start(2, "--log", "requests");
      const path = `/${"long-".repeat(2_000)}`;
      for (let round = 0; round < 10; round++) {
        await Promise.all(Array.from({ length: 50 }, () => request(server, path)));
      }
      expect(await server.stop()).toBe(0);
      const lines = server.log().filter(({ requestId }) => requestId !== undefined);
      expect(lines).toHaveLength(500);
      expect(new Set(lines.map(({ worker, pid }) => `${worker} ${pid}`))).toEqual(
        new Set([...server.workers()].map(([worker, pid]) => `${worker} ${pid}`)),
      );
    },
    TIMEOUT_MS,
  );

  it(
    "are restarted when they are killed, while the others continue",
    async () => {
      const server = await start(2);
      const [first, second] = [pidOf(server, 1), pidOf(server, 2)];
      process.kill(first, "SIGKILL");
      await until(
        () => pidOf(server, 1),
        (pid) => pid !== first,
      );
      expect(pidOf(server, 2)).toBe(second);
      const statuses = await Promise.all(Array.from({ length: 50 }, () => request(server, "/plants")));
      expect(new Set(statuses)).toEqual(new Set([200]));
      await until(
        async () => [await request(server), await countRequests(server)] as const,
        ([, counts]) => counts.has(1) && counts.has(2),
      );
      expect(await server.stop()).toBe(0);
      expect(messages(server)).toContain("worker exited, restarting it");
    },
    TIMEOUT_MS,
  );

  it(
    "are restarted with increasing delays while they cannot start, and the reason is logged",
    async () => {
      const server = await start(2);
      const name = new URL(database.url).pathname.slice(1);
      const exits = () => server.log().filter(({ exitedWorker }) => exitedWorker === 1);
      const metricsStatus = async () => (await fetch(`${server.adminUrl}/metrics`)).status;
      const first = pidOf(server, 1);
      try {
        await other.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
        process.kill(first, "SIGKILL");
        await until(
          async () => [await metricsStatus(), exits().length],
          ([status, count]) => {
            expect(status).toBe(200);
            return count === 4;
          },
        );
      } finally {
        await other.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      }
      await until(
        () => pidOf(server, 1),
        (pid) => pid !== first,
      );
      const [killed, ...failed] = exits();
      expect(killed).toMatchObject({ signal: "SIGKILL", exitedPid: first, delayMs: 100 });
      expect(failed.slice(0, 3)).toMatchObject([
        { exitCode: 1, failure: expect.stringContaining("cannot use the database"), delayMs: 200 },
        { delayMs: 400 },
        { delayMs: 800 },
      ]);
      expect(await server.stop()).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    "export the metrics of the others when one does not respond",
    async () => {
      const server = await start(2);
      await until(
        async () => [await request(server), await countRequests(server)] as const,
        ([, counts]) => counts.size === 2,
      );
      process.kill(pidOf(server, 1), "SIGSTOP");
      expect([...(await countRequests(server)).keys()]).toEqual([2]);
      process.kill(pidOf(server, 1), "SIGCONT");
      await until(
        () => countRequests(server),
        ({ size }) => size === 2,
      );
    },
    TIMEOUT_MS,
  );

  it("have no metrics after they have disconnected", async () => {
    const script = join(import.meta.dir, "../support/silent-worker.ts");
    const { stdout, stderr } = track(Bun.spawn([process.execPath, script], { stdout: "pipe", stderr: "pipe" }));
    const outputs = await Promise.all([stdout, stderr].map((each) => new Response(each).text()));
    expect(outputs).toEqual(['["none","none"]\n', ""]);
  });
});

describe("a supervisor that receives a signal", () => {
  let plants = 0;

  /** Sends half of a create. `finish` sends the rest and returns the bytes received. */
  function beginCreate(server: ServerProcess) {
    const body = `{"id": ${++plants}, "name": "a name that is sent in two parts"}`;
    const head = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`);
    return {
      finish: async () => {
        const closed = new Promise((resolve) => socket.once("close", resolve));
        socket.write(body.slice(20));
        await closed;
        return received;
      },
    };
  }

  const pending = async (server: ServerProcess): Promise<number> => {
    const text = await fetchMetrics(server);
    const counts = text.matchAll(/^plantstore_http_requests_pending\{worker="\d+"\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };

  for (const [signal, recipients] of [
    ["SIGTERM", "it"],
    ["SIGINT", "it and its workers, as by a terminal"],
  ] as const) {
    it(
      `completes all accepted requests of every worker and exits with 0 when ${signal} is sent to ${recipients}`,
      async () => {
        const server = await start(2, "--drain", "0s");
        const creates = Array.from({ length: 8 }, () => beginCreate(server));
        await until(
          () => pending(server),
          (count) => count === creates.length,
        );
        server.process.kill(signal);
        if (signal === "SIGINT") for (const pid of server.workers().values()) process.kill(pid, signal);
        await until(
          () => request(server),
          (status) => status === 0,
        );
        for (const { finish } of creates) expect(await finish()).toStartWith("HTTP/1.1 200 OK\r\n");
        expect(await server.process.exited).toBe(0);
        expect(messages(server).filter((each) => each === "stopped")).toHaveLength(3);
        expect([...server.workers().values()].filter((pid) => !hasExited(pid))).toEqual([]);
      },
      TIMEOUT_MS,
    );
  }

  it(
    "kills the workers and exits with 1 when the signal is repeated after a second",
    async () => {
      const server = await start(2, "--drain", "10m");
      await startDraining(server);
      const exitCode = await until(
        async () => {
          server.process.kill("SIGTERM");
          await request(server);
          return server.process.exitCode;
        },
        (code) => code !== null,
      );
      expect(exitCode).toBe(1);
      for (const pid of server.workers().values()) await until(() => hasExited(pid), Boolean);
    },
    TIMEOUT_MS,
  );

  it(
    "kills a worker that does not stop within the timeout, and exits with 1",
    async () => {
      const server = await start(2, "--drain", "0s", "--stop-timeout", "1s");
      process.kill(pidOf(server, 1), "SIGSTOP");
      expect(await server.stop()).toBe(1);
      await until(() => hasExited(pidOf(server, 1)), Boolean);
      expect(messages(server).filter((each) => each === "stopped")).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    "leaves workers that complete their accepted requests and exit, after SIGKILL",
    async () => {
      const server = await start(2, "--drain", "0s");
      const creates = Array.from({ length: 8 }, () => beginCreate(server));
      await until(
        () => pending(server),
        (count) => count === creates.length,
      );
      await server.stop("SIGKILL");
      await until(
        () => request(server),
        (status) => status === 0,
      );
      for (const { finish } of creates) expect(await finish()).toStartWith("HTTP/1.1 200 OK\r\n");
      for (const pid of server.workers().values()) await until(() => hasExited(pid), Boolean);
    },
    TIMEOUT_MS,
  );
});

describe("a killed supervisor", () => {
  it(
    "releases its port immediately, regardless of the drain time of its workers",
    async () => {
      let server = await start(2, "--drain", "10m");
      const { port } = new URL(server.url);
      for (let round = 0; round < 3; round++) {
        const workers = [...server.workers().values()];
        await server.stop("SIGKILL");
        // The last --port wins.
        server = await start(2, "--drain", "10m", "--port", port);
        expect(new URL(server.url).port).toBe(port);
        expect(await request(server, "/plants")).toBe(200);
        for (const pid of workers) await until(() => hasExited(pid), Boolean);
      }
    },
    TIMEOUT_MS,
  );

  it(
    "ends the drain of its workers",
    async () => {
      const server = await start(2, "--drain", "10m");
      await startDraining(server);
      await server.stop("SIGKILL");
      for (const pid of server.workers().values()) await until(() => hasExited(pid), Boolean);
    },
    TIMEOUT_MS,
  );
});

describe("workers with limits and a certificate", () => {
  it(
    "each count invalid tokens separately, and never reject a valid token",
    async () => {
      const server = await start(2, "--failure-limit", "3/h");
      const headers = { Authorization: "Bearer plt_unknown" };
      const statuses: number[] = [];
      for (let n = 0; n < 40; n++) {
        const response = await fetch(`${server.url}/plants`, { headers, keepalive: false });
        statuses.push(response.status);
      }
      expect(new Set(statuses)).toEqual(new Set([401, 429]));
      expect(statuses.filter((status) => status === 401)).toHaveLength(2 * 3);
      for (let n = 0; n < 20; n++) expect(await request(server, "/plants?limit=1")).toBe(200);
    },
    TIMEOUT_MS,
  );

  it(
    "all use TLS and replace the certificate on SIGHUP",
    async () => {
      const folder = temporaryFolder();
      const files = { cert: `${folder.path}/tls.crt`, key: `${folder.path}/tls.key` };
      const put = ({ cert, key }: ReturnType<typeof makeCertificate>) => {
        writeFileSync(files.cert, cert);
        writeFileSync(files.key, key);
      };
      put(makeCertificate("first"));
      const server = await start(2, "--tls-cert", files.cert, "--tls-key", files.key);
      /** Returns the certificate names of 20 connections, which may go to any worker. */
      const names = () => Promise.all(Array.from({ length: 20 }, () => certificateNameOf(server)));
      expect(new Set(await names())).toEqual(new Set(["first"]));
      put(makeCertificate("second"));
      server.process.kill("SIGHUP");
      for (const msg of ["reloading", "certificate replaced"]) {
        await until(() => server.log().filter((line) => line["msg"] === msg).length === 2);
      }
      expect(new Set(await names())).toEqual(new Set(["second"]));
      expect(await server.stop()).toBe(0);
      folder.remove();
    },
    TIMEOUT_MS,
  );
});
