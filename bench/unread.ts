/**
 * `bun bench/unread.ts`: runs clients that request large responses and do not read them, or read slowly. Prints the
 * server's memory and the latency of another client. Exits with 1 when a limit of docs/overload.md is exceeded.
 */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { newFolder } from "./processes.ts";
import { copySeeded } from "./seed.ts";
import { percentile } from "./statistics.ts";

const PORT = 18_792;
const MAIN = join(import.meta.dir, "../src/main.ts");
const PLANTS = 100_000;
const IDLE_TIMEOUT_SECONDS = 30;
const SLOW_BYTES_PER_SECOND = 10_000;
const MAX_RESIDENT_MIB = 256;
const MAX_P99_MS = 50;
/** Requests of the other client, one every 10 ms. */
const REQUESTS = 500;

let areAllMet = true;

/** Prints a result and records whether it meets its target. */
function report(label: string, value: number, unit: string, isMet: boolean): void {
  areAllMet &&= isMet;
  console.log(`${label.padEnd(64)} ${value.toFixed(1).padStart(8)} ${unit}${isMet ? "" : "  MISSED"}`);
}

const requestOf = (path: string, token: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`;

function open(path: string, token: string): Socket {
  const socket = connect(PORT, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write(requestOf(path, token));
  return socket;
}

async function residentMib(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** Measures memory and another client's latency while `count` clients do not read their response. */
async function measureStalledClients(pid: number, token: string, count: number, path: string): Promise<void> {
  const sockets = Array.from({ length: count }, () => open(path, token));
  const durationsMs: number[] = [];
  let peakMib = 0;
  for (let n = 0; n < REQUESTS; n++) {
    const startedMs = performance.now();
    const response = await fetch(`http://127.0.0.1:${PORT}/plants?limit=1`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    await response.text();
    durationsMs.push(performance.now() - startedMs);
    peakMib = Math.max(peakMib, await residentMib(pid));
    await Bun.sleep(10);
  }
  for (const socket of sockets) socket.destroy();
  const p99Ms = percentile(
    durationsMs.toSorted((a, b) => a - b),
    0.99,
  );
  report(`${count} unread responses of ${path}: resident memory`, peakMib, "MiB", peakMib < MAX_RESIDENT_MIB);
  report(`${count} unread responses of ${path}: another client's p99`, p99Ms, "ms", p99Ms < MAX_P99_MS);
}

/** Reads a response at `SLOW_BYTES_PER_SECOND` and reports its duration; misses the target if the response is incomplete. */
async function measureSlowReader(path: string, token: string): Promise<void> {
  const socket = open(path, token);
  let bytes = 0;
  let end = "";
  const startedMs = performance.now();
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.on("data", (chunk: Uint8Array) => {
    bytes += chunk.length;
    end = (end + Buffer.from(chunk.subarray(-5)).toString("latin1")).slice(-5);
    socket.pause();
    setTimeout(() => socket.resume(), (chunk.length / SLOW_BYTES_PER_SECOND) * 1_000);
  });
  socket.resume();
  await closed;
  const seconds = (performance.now() - startedMs) / 1_000;
  report(`${path} at 10 KB/s, ${bytes} bytes: time until complete`, seconds, "s", end === "0\r\n\r\n");
}

/** Measures the time until the server closes a connection whose client reads nothing. */
async function measureStalledConnection(token: string): Promise<void> {
  const pending = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${PORT + 1}/metrics`)).text();
    return Number(/^plantstore_http_send_buffer_bytes (\d+)$/m.exec(metrics)?.[1]);
  };
  const socket = open("/plants", token);
  const startedMs = performance.now();
  while ((await pending()) === 0) await Bun.sleep(10);
  while ((await pending()) > 0) await Bun.sleep(100);
  const seconds = (performance.now() - startedMs) / 1_000;
  socket.destroy();
  report("a client that reads nothing: time until it is closed", seconds, "s", seconds < 2 * IDLE_TIMEOUT_SECONDS);
}

const folder = newFolder();
const database = join(folder.path, "plants.db");
const token = await copySeeded(PLANTS, database);
const args = ["--database", `sqlite:${database}`, "--port", String(PORT), "--admin-port", String(PORT + 1)];
const server = Bun.spawn([process.execPath, MAIN, "serve", ...args, "--idle-timeout", `${IDLE_TIMEOUT_SECONDS}s`], {
  stdout: "pipe",
  stderr: "ignore",
});
try {
  await server.stdout.getReader().read();
  report("at rest: resident memory", await residentMib(server.pid), "MiB", true);
  await measureStalledClients(server.pid, token, 500, "/plants?limit=60000");
  await measureStalledClients(server.pid, token, 2_000, "/plants");
  await Promise.all([measureStalledConnection(token), measureSlowReader("/plants?after=10060000000", token)]);
} finally {
  server.kill("SIGKILL");
  await server.exited;
  folder.remove();
}
process.exit(areAllMet ? 0 : 1);
