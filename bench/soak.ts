/**
 * `bun bench/soak.ts [minutes]`: a mixed load for 30 minutes by default. Each round uses a new owner: it creates, deletes
 * and lists plants, sends invalid requests, compares the stored plants with a ledger, and deletes all of them. Exits
 * with 1 when a response is wrong or missing, or when memory or open files grow.
 */
import { readdirSync } from "node:fs";
import { PlantStoreClient } from "../src/client/index.ts";
import { Ledger, type LedgerClient } from "../test/support/ledger.ts";
import { createToken, residentBytes, type ServerProcess, startServerProcess } from "../test/support/program.ts";
import { temporaryFolder } from "../test/support/service.ts";
import { median } from "./statistics.ts";

const MINUTES = Number(process.argv[2] ?? 30);
const ROUND_MS = 20_000;
/** Pause of each writer and reader before a request: this benchmark tests a long run, not the maximum load. */
const PAUSE_MS = 20;
/** Maximum growth of the median memory from the second third of the run to the last. Single rounds differ by 27 MiB. */
const MAX_GROWTH_MIB = 16;
/** Maximum growth of the median number of open files, which varies with the connections. */
const MAX_FILE_GROWTH = 20;

/** Invalid requests and their expected status. */
const INVALID_REQUESTS: [status: number, path: string, init: RequestInit][] = [
  [401, "/plants", { headers: { Authorization: "Bearer plt_unknown" } }],
  [404, "/nothing", {}],
  [405, "/plants", { method: "PUT" }],
];

interface Sample {
  readonly memoryMiB: number;
  readonly files: number;
}

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
const server = await startServerProcess(["--database", database]);
const samples: Sample[] = [];
const problems: string[] = [];
const counts = { writes: 0, lists: 0, rejections: 0 };

const endMs = performance.now() + MINUTES * 60_000;
while (performance.now() < endMs) {
  await runRound(await createToken(database, `owner ${samples.length}`, ["--expires", "1h"]));
  samples.push(await takeSample(server));
  report();
}
const code = await server.stop();
if (code !== 0) problems.push(`the server exited with ${code}`);
const failures = server.log().filter(({ level }) => level === "error" || level === "fatal");
problems.push(...failures.map((line) => JSON.stringify(line)));
folder.remove();

if (samples.length < 3) problems.push("the run was too short to detect growth: run it for more minutes");
const third = Math.floor(samples.length / 3);
const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
const growthMiB = medianOf(last, "memoryMiB") - medianOf(middle, "memoryMiB");
const fileGrowth = medianOf(last, "files") - medianOf(middle, "files");
// The time between the middles of two successive thirds.
const hours = MINUTES / 60 / 3;
console.log(`memory: ${(growthMiB / hours).toFixed(1)} MiB per hour, open files: ${fileGrowth} more`);
if (growthMiB > MAX_GROWTH_MIB) problems.push(`memory grew by ${growthMiB.toFixed(1)} MiB`);
if (fileGrowth > MAX_FILE_GROWTH) problems.push(`open files grew by ${fileGrowth}`);
console.log(problems.length === 0 ? "no problems" : problems.slice(0, 20).join("\n"));
process.exit(problems.length === 0 ? 0 : 1);

async function runRound(token: string): Promise<void> {
  const client = new PlantStoreClient({ url: server.url, token, attempts: 1, timeoutMs: 5_000 });
  const ledger = new Ledger();
  const roundEndMs = Math.min(performance.now() + ROUND_MS, endMs);
  const isOver = () => performance.now() >= roundEndMs;
  await Promise.all([ledger.write(withPauses(client), isOver), sendLists(token, isOver), sendInvalidRequests(isOver)]);
  problems.push(...(await ledger.violations(client)));
  if ((await ledger.retryUnacknowledged(client)) > 0) problems.push("a write got no response");
  counts.writes += ledger.acknowledged;
  const ids = await Array.fromAsync(client.listPlants(), ({ id }) => id);
  counts.writes += ids.length;
  while (ids.length > 0) await Promise.all(ids.splice(0, 50).map((id) => client.deletePlant(id)));
}

/** Returns a client that pauses before each write. */
function withPauses(client: PlantStoreClient): LedgerClient {
  return {
    async createPlant(plant, options) {
      await Bun.sleep(PAUSE_MS);
      return await client.createPlant(plant, options);
    },
    async deletePlant(id) {
      await Bun.sleep(PAUSE_MS);
      await client.deletePlant(id);
    },
    listPlants: (query) => client.listPlants(query),
  };
}

/** Requests pages, filtered lists and all plants, and every 50th time disconnects in the middle of a list. */
async function sendLists(token: string, isOver: () => boolean): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const get = (path: string, init: RequestInit = {}) => fetch(server.url + path, { headers, ...init });
  for (let count = 0; !isOver(); count++) {
    await Bun.sleep(PAUSE_MS);
    const path = ["/plants?limit=20", "/plants?limit=20&tag=", "/plants?fields=id", `/plants?limit=5&after=${count}`][
      count % 4
    ];
    const response = await get(path ?? "");
    if (response.status === 200) counts.lists++;
    else problems.push(`GET ${path}: ${response.status}`);
    await response.json();
    if (count % 50 !== 0) continue;
    const disconnect = new AbortController();
    await get("/plants", { signal: disconnect.signal }).finally(() => disconnect.abort());
  }
}

/** Sends invalid requests, each on a new connection. */
async function sendInvalidRequests(isOver: () => boolean): Promise<void> {
  for (let count = 0; !isOver(); count++) {
    // Below the rate limit for invalid tokens.
    await Bun.sleep(10 * PAUSE_MS);
    const [status, path, init] = INVALID_REQUESTS[count % INVALID_REQUESTS.length] as (typeof INVALID_REQUESTS)[number];
    const response = await fetch(server.url + path, { ...init, keepalive: false });
    await response.text();
    if (response.status === status) counts.rejections++;
    else problems.push(`${init.method ?? "GET"} ${path}: ${response.status} instead of ${status}`);
  }
}

/** Reads the server's memory and its number of open files. */
async function takeSample(server: ServerProcess): Promise<Sample> {
  const memoryMiB = (await residentBytes(server)) / 1024 ** 2;
  return { memoryMiB, files: readdirSync(`/proc/${server.process.pid}/fd`).length };
}

function report(): void {
  const { memoryMiB, files } = samples.at(-1) as Sample;
  const totals = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  console.log(
    `round ${samples.length}: ${totals.join(", ")}, ${problems.length} problems, ${memoryMiB.toFixed(0)} MiB, ${files} files`,
  );
}

function medianOf(range: readonly Sample[], field: keyof Sample): number {
  return median(range.map((each) => each[field]));
}
