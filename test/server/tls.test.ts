import { afterAll, describe, expect, it } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { Listener } from "../../src/http/listener.ts";
import type { Log } from "../../src/observability/log.ts";
import { CertificateFiles } from "../../src/server/certificate-files.ts";
import {
  certificateNameOf,
  makeCertificate,
  openTls,
  type TestCertificate,
  withEcKey,
} from "../support/certificates.ts";
import { createToken, fetchMetrics, run, type ServerProcess } from "../support/program.ts";
import { useServerProcesses } from "../support/server-processes.ts";
import { temporaryFolder } from "../support/service.ts";
import { until } from "../support/until.ts";

const TIMEOUT_MS = 60_000;
const first = makeCertificate("first");
const second = makeCertificate("second");

/** Cipher suites of TLS 1.2; `*` is the type of the server's key. */
const ALLOWED_SUITES = ["ECDHE-*-AES128-GCM-SHA256", "ECDHE-*-AES256-GCM-SHA384", "ECDHE-*-CHACHA20-POLY1305"];
const REJECTED_SUITES = [
  "ECDHE-*-AES128-SHA",
  "ECDHE-*-AES256-SHA",
  "ECDHE-*-AES128-SHA256",
  "AES128-GCM-SHA256",
  "AES256-GCM-SHA384",
  "AES128-SHA",
  "AES256-SHA",
];

const folder = temporaryFolder();
afterAll(() => folder.remove());
const startServerProcess = useServerProcesses();

let folders = 0;

/** Creates a folder with a certificate. Returns its paths and the URL of a database in it. */
function newFiles({ cert, key }: TestCertificate) {
  const path = join(folder.path, String(++folders));
  mkdirSync(path);
  const files = { cert: join(path, "tls.crt"), key: join(path, "tls.key") };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return { ...files, path, database: `sqlite:${path}/plants.db` };
}

async function start(files: { cert: string; key: string; database: string }): Promise<ServerProcess> {
  const tls = ["--tls-cert", files.cert, "--tls-key", files.key];
  return await startServerProcess(["--database", files.database, ...tls]);
}

const portOf = ({ url }: ServerProcess): number => Number(new URL(url).port);

describe("a server with a certificate", () => {
  it("uses TLS, prints an https URL and sends Strict-Transport-Security", async () => {
    const server = await start(newFiles(first));
    expect(server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await certificateNameOf(server)).toBe("first");
    for (const [path, status] of [
      ["/livez", 200],
      ["/plants", 401],
      ["/nope", 404],
      ["/docs", 200],
    ] as const) {
      const response = await fetch(server.url + path, { tls: { ca: first.cert } });
      expect([response.status, response.headers.get("Strict-Transport-Security")]).toEqual([
        status,
        "max-age=31536000",
      ]);
    }
    await expect(fetch(`${server.url}/livez`, { tls: { ca: second.cert } })).rejects.toThrow();
    expect(server.adminUrl).toStartWith("http://");
  });

  it("sends nothing to a client without TLS", async () => {
    const server = await start(newFiles(first));
    expect(await exchange(server, Buffer.from("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"))).toBe("");
  });

  it("rejects versions older than TLS 1.2", async () => {
    const server = await start(newFiles(first));
    const hello = (minor: number) =>
      Buffer.concat([
        Buffer.from([0x16, 3, 1, 0, 45, 1, 0, 0, 41, 3, minor]),
        Buffer.alloc(32, 7),
        // No session, the cipher suite TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, no compression.
        Buffer.from([0, 0, 2, 0xc0, 0x2f, 1, 0]),
      ]);
    const alert = "\x15\x03\x01\x00\x02\x02\x46";
    expect([await exchange(server, hello(1)), await exchange(server, hello(2))]).toEqual([alert, alert]);
    expect(await exchange(server, hello(3))).not.toEndWith(alert.slice(-1));
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const { socket } = await openTls(server, { minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
  });

  it.each([
    ["RSA", first, second],
    ["ECDSA", withEcKey(first), withEcKey(second)],
  ] as const)(
    "offers only AEAD suites with forward secrecy on TLS 1.2, with an %s key and after a reload",
    async (type, before, after) => {
      const files = newFiles(before);
      const server = await start(files);
      const accepts = (cipher: string) =>
        openTls(server, { ciphers: cipher, maxVersion: "TLSv1.2" }).then(
          ({ socket }) => {
            const { name } = socket.getCipher();
            socket.destroy();
            return name === cipher;
          },
          () => false,
        );
      const accepted = async () => {
        const results = [...ALLOWED_SUITES, ...REJECTED_SUITES].map(async (suite) => {
          const cipher = suite.replace("*", type);
          return (await accepts(cipher)) ? [cipher] : [];
        });
        return (await Promise.all(results)).flat();
      };
      const expected = ALLOWED_SUITES.map((suite) => suite.replace("*", type));
      expect(await accepted()).toEqual(expected);
      writeFileSync(files.cert, after.cert);
      writeFileSync(files.key, after.key);
      await server.logged("certificate replaced");
      expect(await certificateNameOf(server)).toBe("second");
      expect(await accepted()).toEqual(expected);
    },
    TIMEOUT_MS,
  );

  it("does not share its port with another server", async () => {
    const { port } = new URL((await start(newFiles(first))).url);
    const { cert, key, database } = newFiles(first);
    const files = ["--database", database, "--tls-cert", cert, "--tls-key", key];
    const { exitCode, stderr } = await run(["serve", ...files, "--port", port, "--admin-port", "off"]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(new RegExp(`^plantstore: cannot listen on 127.0.0.1:${port}.*\n$`)),
    });
  });

  it("keeps the old certificate when the new one cannot be installed", async () => {
    const options = { host: "127.0.0.1", port: 0, reusePort: false, idleTimeoutSeconds: 10, certificate: first };
    const listener = new Listener(options, { fetch: () => new Response() });
    expect(() => listener.setCertificate({ cert: "none", key: "none" })).toThrow("cannot listen on 127.0.0.1");
    expect(await certificateNameOf(listener)).toBe("first");
    listener.setCertificate(second);
    expect(await certificateNameOf(listener)).toBe("second");
    await listener.stop(0, Promise.resolve());
  });

  /** Sends bytes. Returns the bytes received until the server closes the connection. */
  function exchange(server: ServerProcess, bytes: Uint8Array): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connectTcp(portOf(server), "127.0.0.1", () => socket.write(bytes));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    return promise;
  }

  it(
    "uses the new certificate when the files change, and completes pending requests",
    async () => {
      const files = newFiles(first);
      const token = await createToken(files.database, "ann");
      const server = await start(files);
      const { socket } = await openTls(server);
      const body = '{"id":1,"name":"Clarkia"}';
      socket.write(
        `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
      );
      await until(
        () => fetchMetrics(server),
        (text) => text.includes("plantstore_http_requests_pending 1"),
      );
      writeFileSync(files.cert, second.cert);
      writeFileSync(files.key, second.key);
      await server.logged("certificate replaced");
      expect(await certificateNameOf(server)).toBe("second");
      expect(await fetchMetrics(server)).toContain("plantstore_http_requests_pending 1");
      const response = new Promise<string>((resolve) => socket.once("data", (chunk) => resolve(String(chunk))));
      socket.write(body.slice(9));
      expect(await response).toStartWith("HTTP/1.1 200 OK\r\n");
      expect(await server.stop()).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    "follows links that are switched atomically, and keeps the old certificate while the new one is invalid",
    async () => {
      const files = newFiles(first);
      const [valid, mismatched] = [newFiles(second), newFiles({ cert: second.cert, key: first.key })];
      const links = { cert: join(files.path, "live/tls.crt"), key: join(files.path, "live/tls.key") };
      const switchTo = (path: string) => {
        symlinkSync(path, join(files.path, "next"));
        renameSync(join(files.path, "next"), join(files.path, "live"));
      };
      switchTo(files.path);
      const server = await start({ ...links, database: files.database });
      switchTo(mismatched.path);
      await server.logged("KEY_VALUES_MISMATCH");
      expect(await certificateNameOf(server)).toBe("first");
      rmSync(mismatched.cert);
      await server.logged("ENOENT");
      expect(await certificateNameOf(server)).toBe("first");
      switchTo(valid.path);
      await server.logged("certificate replaced");
      expect(await certificateNameOf(server)).toBe("second");
      const events = server.log().map(({ msg }) => msg);
      expect(events).toEqual([
        "serving",
        "certificate not replaced",
        "certificate not replaced",
        "certificate replaced",
      ]);
    },
    TIMEOUT_MS,
  );
});

describe("certificate files", () => {
  const valid = newFiles(first);
  const mismatched = newFiles({ cert: second.cert, key: first.key });
  const invalid = newFiles({ cert: "none", key: "none" });

  it.each([
    ["the certificate does not match the key", mismatched.cert, mismatched.key, "KEY_VALUES_MISMATCH"],
    ["the certificate is not PEM", invalid.cert, valid.key, "PEM"],
    ["the key is not PEM", valid.cert, invalid.key, "PEM"],
    ["the certificate does not exist", `${valid.cert}.old`, valid.key, "no such file"],
    ["the key does not exist", valid.cert, `${valid.key}.old`, "no such file"],
    ["the certificate is a device", "/dev/zero", valid.key, "/dev/zero is not a regular file"],
    ["the key is a folder", valid.cert, "/tmp", "/tmp is not a regular file"],
  ])("make serve exit with 1 and print one line when %s", async (_description, cert, key, reason) => {
    const { exitCode, stdout, stderr } = await run(["serve", "--tls-cert", cert, "--tls-key", key]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toStartWith(`plantstore: cannot use the certificate ${cert} with the key ${key}: `);
    expect(stderr).toContain(reason);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });

  /** Watches certificate files. `events` are the installed certificates and the logged errors. */
  function watch(files: { cert: string; key: string }, onInstall = () => {}) {
    const events: string[] = [];
    const log = { info() {}, warn: ({ err }: { err: Error }) => events.push(err.message) } as unknown as Log["events"];
    const opened = CertificateFiles.open({ tlsCert: files.cert, tlsKey: files.key }, log) as CertificateFiles;
    const stop = opened.watch({
      setCertificate({ cert }) {
        events.push(cert);
        onInstall();
      },
    });
    return { events, stop, check: () => opened.check() };
  }

  it("cause one log line per new error, regardless of the number of checks", () => {
    const files = newFiles(first);
    const { events, stop, check } = watch(files);
    const keys = [first.key, "none", "none", second.key, second.key, "none", first.key, "none", first.key];
    for (const key of keys) {
      writeFileSync(files.key, key);
      for (let n = 0; n < 3; n++) check();
    }
    const errors = ["no PEM block", "KEY_VALUES_MISMATCH", "no PEM block", "no PEM block"];
    expect(events.map((each) => errors.find((error) => each.includes(error)) ?? each)).toEqual(errors);
    writeFileSync(files.cert, second.cert);
    writeFileSync(files.key, second.key);
    for (let n = 0; n < 3; n++) check();
    expect(events.slice(errors.length)).toEqual([second.cert]);
    stop();
  });

  it("are ignored after the watch has ended", () => {
    const files = newFiles(first);
    const { events, stop, check } = watch(files);
    stop();
    writeFileSync(files.cert, second.cert);
    writeFileSync(files.key, second.key);
    check();
    expect(events).toEqual([]);
  });

  it("are installed at a later check when the listener rejects them first, and the error is logged once", () => {
    const files = newFiles(first);
    let attempts = 0;
    const { events, stop, check } = watch(files, () => {
      if (++attempts <= 2) throw new Error("no descriptor");
    });
    writeFileSync(files.cert, second.cert);
    writeFileSync(files.key, second.key);
    for (let n = 0; n < 4; n++) check();
    expect(events).toEqual([second.cert, "no descriptor", second.cert, second.cert]);
    stop();
  });

  it.each(["--tls-cert", "--tls-key"])("cause a usage error when only %s is given", async (flag) => {
    const { exitCode, stderr } = await run(["serve", flag, valid.cert]);
    expect([exitCode, stderr]).toEqual([2, "plantstore: --tls-cert and --tls-key must be set together\n"]);
  });
});
