import { afterAll, describe, expect, it } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { commandLine, createToken, fetchMetrics, run, type ServerProcess, track } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const TIMEOUT_MS = 60_000;
const folder = temporaryFolder();
afterAll(() => folder.remove());

let files = 0;
const newPath = (): string => join(folder.path, `plants-${++files}.db`);

const startServerProcess = useServerProcesses();

async function start(path: string, ...args: string[]): Promise<ServerProcess> {
  return await startServerProcess(["--database", `sqlite:${path}`, ...args]);
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const statusOf = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status;

/** Opens a connection and sends text. `closed` resolves with the text received when the server closes it. */
function openSocket(url: string, text: string) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  socket.write(text);
  return { write: (more: string) => socket.write(more), closed };
}

const createHead = (token: string, body: string) =>
  `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${body}\r\n\r\n`;

/** Sends half of a create of plant 7. `finish` sends the rest and returns the response. */
async function beginCreate(server: Pick<ServerProcess, "url" | "adminUrl">, token: string) {
  const body = '{"id": 7, "name": "a name that is sent in two parts"}';
  const socket = openSocket(server.url, createHead(token, `Content-Length: ${body.length}`) + body.slice(0, 20));
  await until(
    () => fetchMetrics(server),
    (text) => text.includes("plantstore_http_requests_pending 1"),
  );
  return {
    finish() {
      socket.write(body.slice(20));
      return socket.closed;
    },
  };
}

/** Resolves when the server refuses connections. */
const untilConnectionsRefused = ({ url }: { readonly url: string }) =>
  until(() =>
    fetch(`${url}/livez`).then(
      () => false,
      () => true,
    ),
  );

describe("the command line of serve", () => {
  const misuses: [description: string, args: readonly string[], reason: RegExp][] = [
    ["an unknown command", ["sevre"], /sevre/],
    ["an unknown flag", ["serve", "--prot", "1"], /--prot/],
    ["a flag without its value", ["serve", "--port"], /--port/],
    ["an argument", ["serve", "now"], /too many arguments/],
    ["an invalid variable", ["serve", "--port", "0"], /^plantstore: PLANTSTORE_LOG must be failures or requests\n$/],
  ];
  for (const [description, args, reason] of misuses) {
    it(`rejects ${description} in one line with exit code 2`, async () => {
      const env = { PLANTSTORE_DATABASE: `sqlite:${newPath()}`, PLANTSTORE_LOG: "all" };
      const { exitCode, stdout, stderr } = await run(args, { env });
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toMatch(reason);
      expect(stderr).toMatch(/^plantstore: .*\n$/);
    });
  }

  const badSettings = {
    "--database": ["postgres", "sqlite:", "sqlite::memory:", "plants.db"],
    "--workers": ["0", "65", "1.5", "two"],
    "--host": ["two words", "http://x", "*", "-/"],
    "--port": ["65536", "-1", "80a", "off"],
    "--admin-host": ["a/b", "[", "?", " "],
    "--admin-port": ["on", "65536", "1.5", "0x50"],
    "--rate-limit": ["100", "0/s", "1000001/s", "10/d"],
    "--failure-limit": ["on", "-1/m", "1.5/s", "/m"],
    "--trusted-proxies": ["proxy.internal", "10.0.0.0/33", "10.0.0.1,", "::/129"],
    "--issuer": ["x".repeat(256), "\n", "a\tb", "\u0085"],
    "--jwks-url": ["http://id.example/keys", "id.example", "ftp://127.0.0.1/", "http://127.0.0.1.example/"],
    "--owner-claim": ["x".repeat(256), "\n", "a\tb", "\u0085"],
    "--cors-origins": ["*", "null", "https://a.example/", "https://a.example,shop.example"],
    "--log": ["all", "FAILURES", "none", "requests "],
    "--idle-timeout": ["0s", "256s", "30", "1.5s"],
    "--drain": ["11m", "-1s", "5", "1y"],
    "--stop-timeout": ["0s", "999ms", "11m", "s"],
    "--backup-every": ["0s", "21d", "1", "1w"],
    "--backup-keep": ["0", "10001", "1.5", "all"],
  };
  const flags = Object.keys(badSettings);
  for (const round of [0, 1, 2, 3]) {
    const values = Object.values(badSettings).map((bad) => bad[round] as string);
    it(`lists all invalid settings: ${values.join(" ")}`, async () => {
      const asFlags = flags.flatMap((flag, n) => (n % 2 === round % 2 ? [`${flag}=${values[n]}`] : []));
      const variableOf = (flag: string) => `PLANTSTORE_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`;
      const env = Object.fromEntries(flags.map((flag, n) => [variableOf(flag), values[n] as string]));
      const { exitCode, stdout, stderr } = await run(["serve", ...asFlags], { env, cwd: folder.path });
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      const sources = flags.map((flag, n) => (n % 2 === round % 2 ? flag : variableOf(flag)));
      for (const source of sources) expect(stderr).toContain(`${source} must be`);
      expect(stderr.trim().split("\n")).toHaveLength(1);
      expect(existsSync(join(folder.path, "data"))).toBe(false);
    });
  }

  it("gives flags precedence over variables", async () => {
    const [path, other] = [newPath(), newPath()];
    const env = { PLANTSTORE_DATABASE: `sqlite:${other}`, PLANTSTORE_PORT: "none", PLANTSTORE_LOG: "requests" };
    const server = await startServerProcess(["--database", `sqlite:${path}`], env);
    expect([existsSync(path), existsSync(other)]).toEqual([true, false]);
    await fetch(`${server.url}/livez`);
    await server.logged("request completed");
  });

  it("reads variables if there is no flag, and creates the folder of the database", async () => {
    const path = join(folder.path, "new", "folder", "plants.db");
    await startServerProcess([], { PLANTSTORE_DATABASE: `sqlite:${path}` });
    expect(existsSync(path)).toBe(true);
  });

  for (const flag of ["--port", "--admin-port"]) {
    it(
      `exits with 1 and prints one line when ${flag} is in use`,
      async () => {
        const first = await start(newPath());
        const { port } = new URL((flag === "--port" ? first.url : first.adminUrl) ?? "");
        const settings = ["--database", `sqlite:${newPath()}`, "--port", "0", "--admin-port", "0", flag, port];
        const { exitCode, stdout, stderr } = await run(["serve", ...settings]);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
        expect(stderr).toMatch(new RegExp(`^plantstore: cannot listen on 127.0.0.1:${port}.*\n$`));
      },
      TIMEOUT_MS / 6,
    );
  }

  it("rejects a second server on the same database in one line with exit code 1", async () => {
    const path = newPath();
    const first = await start(path);
    const { exitCode, stdout, stderr } = await run(["serve", "--database", `sqlite:${path}`, "--port", "0"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toMatch(/^plantstore: another server is running on .*\n$/);
    expect(await statusOf(`${first.url}/readyz`)).toBe(200);
  });
});

describe("the first start", () => {
  it("prints one token, a sign-in link and a curl line that works when pasted; the second start prints none", async () => {
    const path = newPath();
    const first = await start(path);
    await first.printed(/curl .*\n/);
    const [ready, ...rest] = first.stdout().split("\n");
    expect(ready).toMatch(/^\S.* http:\/\/127\.0\.0\.1:\d+$/);
    const line = rest.find((each) => each.includes("curl ")) ?? "";
    const tokens = new Set(first.stdout().match(/plt_[0-9A-Za-z]{36}/g));
    expect(tokens.size).toBe(1);
    expect(await paste(line)).toBe('{"name":"Clarkia","tag":"annual"}');
    const [token = ""] = tokens;
    expect(rest).toContain(`  ${first.url}/#token=${token}`);
    const list = await fetch(`${first.url}/plants?fields=id,name,tag`, { headers: bearer(token) });
    expect(await list.text()).toBe('[{"id":1,"name":"Clarkia","tag":"annual"}]');
    await first.stop();

    const second = await start(path);
    expect(await statusOf(`${second.url}/plants`, { headers: bearer(token) })).toBe(200);
    await second.stop();
    expect(second.stdout()).toBe(`Plant Store is ready at ${second.url}\n`);
  });

  /** Runs the line in a shell and returns its output. Without curl, sends the request that curl would send. */
  async function paste(line: string): Promise<string> {
    const sh = (script: string) => new Response(Bun.spawn(["sh", "-c", script], { stderr: "ignore" }).stdout).text();
    if (Bun.which("curl") !== null) return sh(line);
    const words = (await sh(`curl() { printf '%s\\n' "$@"; }; ${line}`)).trim().split("\n");
    const after = (flag: string) => words.flatMap((word, n) => (words[n - 1] === flag ? [word] : []));
    const headers = after("-H").map((header) => header.split(": ") as [string, string]);
    return (await fetch(words[0] ?? "", { method: "POST", headers, body: after("-d").join("") })).text();
  }
});

describe("a server that receives a stop signal", () => {
  /** Sends the signal until the server exits, because a signal within one second of the first is ignored. */
  const stopAgain = (server: ServerProcess, signal: NodeJS.Signals) =>
    until(
      async () => {
        server.process.kill(signal);
        await fetch(`${server.url}/livez`).catch(() => {});
        return server.process.exitCode;
      },
      (exitCode) => exitCode !== null,
    );

  it(
    "completes accepted requests and exits with 0 when the signal is repeated immediately, as by npm on Ctrl-C",
    async () => {
      const path = newPath();
      const token = await createToken(`sqlite:${path}`, "ann");
      const server = await start(path, "--drain", "0s");
      const create = await beginCreate(server, token);
      // Both signals are pending when the process continues.
      for (const signal of ["SIGSTOP", "SIGTERM", "SIGINT", "SIGCONT"] as const) server.process.kill(signal);
      await untilConnectionsRefused(server);
      expect(await create.finish()).toStartWith("HTTP/1.1 200 OK\r\n");
      expect(await server.process.exited).toBe(0);
    },
    TIMEOUT_MS,
  );

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(
      `completes accepted requests, checkpoints the WAL and exits with 0: ${signal}`,
      async () => {
        const path = newPath();
        const token = await createToken(`sqlite:${path}`, "ann");
        const server = await start(path, "--drain", "0s");
        const create = await beginCreate(server, token);
        server.process.kill(signal);
        await untilConnectionsRefused(server);
        const response = await create.finish();
        expect(response).toStartWith("HTTP/1.1 200 OK\r\n");
        expect(response).toEndWith('\r\n\r\n{"name":"a name that is sent in two parts"}');
        expect(await server.process.exited).toBe(0);
        expect(server.log().map(({ msg }) => msg)).toEqual(["serving", "stopping", "stopped"]);
        const leftovers = readdirSync(folder.path).filter((name) => join(folder.path, name) === `${path}-wal`);
        expect(leftovers.filter((name) => statSync(join(folder.path, name)).size > 0)).toEqual([]);

        const again = await start(path);
        const list = await fetch(`${again.url}/plants?fields=id`, { headers: bearer(token) });
        expect(await list.text()).toBe('[{"id":7}]');
      },
      TIMEOUT_MS,
    );
  }

  for (const second of ["SIGTERM", "SIGINT"] as const) {
    it(
      `sets /readyz to 503, keeps serving, and exits with 1 at a ${second} one second later`,
      async () => {
        const path = newPath();
        const token = await createToken(`sqlite:${path}`, "ann");
        const server = await start(path, "--drain", "10m");
        expect(await statusOf(`${server.url}/readyz`)).toBe(200);
        server.process.kill("SIGTERM");
        const response = await until(
          () => fetch(`${server.url}/readyz`),
          ({ status }) => status !== 200,
        );
        expect(response.status).toBe(503);
        expect(response.headers.get("Retry-After")).toMatch(/^\d+$/);
        expect(await response.json()).toEqual({ error: 50300, message: expect.any(String) });
        const list = await fetch(`${server.url}/plants`, { headers: bearer(token) });
        expect([list.status, list.headers.get("Connection")]).toEqual([200, "close"]);
        expect(await statusOf(`${server.url}/livez`)).toBe(200);
        expect(await stopAgain(server, second)).toBe(1);
      },
      TIMEOUT_MS / 6,
    );
  }
});

describe("SIGHUP", () => {
  it("reloads a server without a terminal", async () => {
    const server = await start(newPath());
    server.process.kill("SIGHUP");
    await server.logged("reloading");
    expect(await statusOf(`${server.url}/readyz`)).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  it(
    "shuts down a server gracefully when its terminal closes",
    async () => {
      const path = newPath();
      const token = await createToken(`sqlite:${path}`, "ann");
      const args = ["serve", "--database", `sqlite:${path}`, "--port", "0", "--admin-port", "0", "--drain", "0s"];
      const ready = Promise.withResolvers<Pick<ServerProcess, "url" | "adminUrl">>();
      let output = "";
      const child = track(
        Bun.spawn(commandLine(args), {
          terminal: {
            data(_terminal, chunk) {
              output += new TextDecoder().decode(chunk);
              const [adminUrl, url] = [/"adminUrl":"(.*?)"/, /ready at (\S+)/].map((each) => each.exec(output)?.[1]);
              if (url !== undefined) ready.resolve({ url, adminUrl });
            },
          },
        }),
      );
      const server = await ready.promise;
      const create = await beginCreate(server, token);
      child.terminal?.close();
      await untilConnectionsRefused(server);
      expect(await create.finish()).toStartWith("HTTP/1.1 200 OK\r\n");
      expect(await child.exited).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("the log", () => {
  it("has a line with the X-Request-Id for each failed request and none for others", async () => {
    const path = newPath();
    const token = await createToken(`sqlite:${path}`, "ann");
    const server = await start(path);
    const headers = (requestId: string) => ({ ...bearer(token), "X-Request-Id": requestId });
    await fetch(`${server.url}/plants`, { headers: headers("good") });
    await fetch(`${server.url}/plants?limit=0`, { headers: headers("bad-limit") });
    await fetch(`${server.url}/plants/1`, { method: "DELETE", headers: headers("no-plant") });
    const generatedId = (await fetch(`${server.url}/nowhere`)).headers.get("X-Request-Id");
    await server.stop();
    const failures = server.log().filter(({ requestId }) => requestId !== undefined);
    expect(failures).toMatchObject([
      { level: "warn", requestId: "bad-limit", operation: "listPlants", method: "GET", path: "/plants", owner: "ann" },
      { level: "warn", requestId: "no-plant", operation: "deletePlant", status: 404, error: "plant_not_found" },
      { level: "warn", requestId: generatedId, operation: "none", status: 404, path: "/nowhere" },
    ]);
  });

  it("has a line for every request with --log requests, and never a token", async () => {
    const path = newPath();
    const token = await createToken(`sqlite:${path}`, "ann");
    const server = await start(path, "--log", "requests");
    const secret = token.slice("plt_".length);
    const requests: [path: string, init: RequestInit][] = [
      [`/plants?access_token=${token}`, {}],
      [`/plants?limit=${token}&after=${token}`, { headers: bearer(token) }],
      [`/plants/${token}`, { method: "DELETE", headers: bearer(token) }],
      [`/${token}/${token}`, {}],
      [`/plants/plt%5F${secret}`, { method: "DELETE", headers: bearer(token) }],
      ["/plants", { headers: { ...bearer(token), "X-Request-Id": token } }],
      ["/plants", { headers: { ...bearer(token), "X-Request-Id": `a${token}b,${token}` } }],
      ["/plants", { headers: { Authorization: token } }],
      ["/plants", { headers: { Authorization: `Bearer ${token}, Bearer ${token}` } }],
      ["/plants", { method: "POST", headers: { ...bearer(token), "Idempotency-Key": `${token} ` }, body: token }],
      ["/livez", { headers: { Cookie: token, "User-Agent": token, Referer: token } }],
    ];
    for (const [target, init] of requests) await fetch(server.url + target, init);
    await server.stop();
    const lines = server.log().filter(({ requestId }) => requestId !== undefined);
    expect(lines).toHaveLength(requests.length);
    expect(lines.filter((line) => JSON.stringify(line).includes(secret))).toEqual([]);
    expect(lines.map(({ status }) => status)).toEqual([401, 400, 400, 404, 400, 200, 200, 401, 400, 400, 200]);
  });
});

describe("the default rate limits", () => {
  const failures = async (server: ServerProcess, count: number, headers: Record<string, string> = {}) => {
    const statuses = new Set<number>();
    for (let n = 0; n < count; n++)
      statuses.add(await statusOf(`${server.url}/plants`, { headers: { ...headers, ...bearer("x") } }));
    return [...statuses];
  };

  it("allow 600 invalid tokens per minute and address, and unlimited requests with valid tokens", async () => {
    const path = newPath();
    const token = await createToken(`sqlite:${path}`, "ann");
    const server = await start(path);
    expect(await failures(server, 600)).toEqual([401]);
    // The quota has been refilled partly meanwhile.
    expect(await failures(server, 600)).toContain(429);
    expect(await statusOf(`${server.url}/plants`, { headers: bearer(token) })).toBe(200);
  });

  it("can be changed by settings", async () => {
    const path = newPath();
    const token = await createToken(`sqlite:${path}`, "ann");
    const proxies = ["--trusted-proxies", "10.0.0.0/8, 127.0.0.1"];
    const server = await start(path, "--rate-limit", "2/h", "--failure-limit", "1/h", ...proxies);
    const forwarded = { "X-Forwarded-For": "192.0.2.1" };
    expect([await failures(server, 2), await failures(server, 1, forwarded)]).toEqual([[401, 429], [401]]);
    const list = () => statusOf(`${server.url}/plants`, { headers: bearer(token) });
    expect([await list(), await list(), await list()]).toEqual([200, 200, 429]);
    const without = await start(newPath(), "--failure-limit", "off");
    expect(await failures(without, 1_000)).toEqual([401]);
  });
});

describe("a running server", () => {
  it("rejects a token that a command revoked, and accepts others", async () => {
    const path = newPath();
    const server = await start(path);
    const [token, other] = [await createToken(`sqlite:${path}`, "ann"), await createToken(`sqlite:${path}`, "ann")];
    const list = (each: string) => statusOf(`${server.url}/plants`, { headers: bearer(each) });
    expect([await list(token), await list(other)]).toEqual([200, 200]);
    expect((await run(["token", "revoke", token, "--database", `sqlite:${path}`])).exitCode).toBe(0);
    expect(
      await until(
        () => list(token),
        (status) => status !== 200,
      ),
    ).toBe(401);
    expect(await list(other)).toBe(200);
  });

  it("serves /metrics only on the admin listener, and plants only on the main one", async () => {
    const server = await start(newPath());
    expect([await statusOf(`${server.url}/metrics`), await statusOf(`${server.adminUrl}/plants`)]).toEqual([404, 404]);
    await fetch(`${server.url}/livez`);
    const metrics = await fetch(`${server.adminUrl}/metrics`);
    expect(metrics.headers.get("Content-Type")).toStartWith("text/plain");
    expect(await metrics.text()).toMatch(
      /^plantstore_http_request_duration_seconds_count\{.*operation="livez".*\} 1$/m,
    );
    const without = await start(newPath(), "--admin-port", "off");
    expect(without.adminUrl).toBeUndefined();
  });

  it(
    "closes connections that stall in any phase of a request",
    async () => {
      const path = newPath();
      const token = await createToken(`sqlite:${path}`, "ann");
      const server = await start(path, "--idle-timeout", "1s");
      const stalls = {
        "before a request": "",
        "in the headers": "GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow",
        "in a body": `${createHead(token, "Content-Length: 40")}{"id": 1,`,
        "in a chunked body": `${createHead(token, "Transfer-Encoding: chunked")}9\r\n{"id": 1,\r\n`,
        "between requests": "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n",
      };
      const responses = Object.values(stalls).map((text) => openSocket(server.url, text).closed);
      expect((await Promise.all(responses)).map((response) => response.includes(" 200 OK"))).toEqual([
        ...Array<boolean>(4).fill(false),
        true,
      ]);
      expect(await statusOf(`${server.url}/plants`, { headers: bearer(token) })).toBe(200);
    },
    TIMEOUT_MS,
  );
});
