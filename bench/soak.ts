/**
 * `bun bench/soak.ts [minutes]`: a mixed load for a long time, 30 minutes unless told otherwise. In each round an owner
 * comes, has plants created, deleted and listed, among them requests that must be refused, is read back against a
 * ledger, and has all plants deleted. Ends with 1 when an answer was wrong or missing, or something grew.
 */
import { readdirSync } from "node:fs";
import { PlantStoreClient } from "../src/client/index.ts";
import { Ledger, type LedgerClient } from "../test/support/ledger.ts";
import { createToken, type Program, residentBytes, startProgram } from "../test/support/program.ts";
import { temporaryFolder } from "../test/support/service.ts";
import { median } from "./statistics.ts";

const MINUTES = Number(process.argv[2] ?? 30);
const ROUND_MS = 20_000;
/** Each writer and reader waits so long before each request: the load is to last, not to be the most there can be. */
const PAUSE_MS = 20;
/** Memory may grow by so much from the second third of the time to the last: single rounds differ by 27 MiB. */
const MAX_GROWTH_MIB = 16;
/** Connections come and go: the number of files may differ by so much. */
const MAX_MORE_FILES = 20;

/** What must be refused, and with which status. */
const REFUSED: [status: number, path: string, init: RequestInit][] = [
  [401, "/plants", { headers: { Authorization: "Bearer plt_nobody" } }],
  [404, "/nothing", {}],
  [405, "/plants", { method: "PUT" }],
];

interface Sample {
  readonly memoryMiB: number;
  readonly files: number;
}

const folder = temporaryFolder();
const database = `sqlite:${folder.path}/plants.db`;
const program = await startProgram(["--database", database]);
const samples: Sample[] = [];
const faults: string[] = [];
const counts = { writes: 0, lists: 0, refusals: 0 };

const endMs = performance.now() + MINUTES * 60_000;
while (performance.now() < endMs) {
  await soak(await createToken(database, `owner ${samples.length}`, ["--expires", "1h"]));
  samples.push(await sample(program));
  report();
}
const code = await program.stop();
if (code !== 0) faults.push(`the server ended with ${code}`);
const failures = program.log().filter(({ level }) => level === "error" || level === "fatal");
faults.push(...failures.map((line) => JSON.stringify(line)));
folder.remove();

if (samples.length < 3) faults.push("that was too short to tell whether anything grows: take more minutes");
const third = Math.floor(samples.length / 3);
const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
const growthMiB = medianOf(last, "memoryMiB") - medianOf(middle, "memoryMiB");
const moreFiles = medianOf(last, "files") - medianOf(middle, "files");
// From the middle of one third to the middle of the next.
const hours = MINUTES / 60 / 3;
console.log(`memory: ${(growthMiB / hours).toFixed(1)} MiB an hour, files: ${moreFiles} more`);
if (growthMiB > MAX_GROWTH_MIB) faults.push(`memory grew by ${growthMiB.toFixed(1)} MiB`);
if (moreFiles > MAX_MORE_FILES) faults.push(`${moreFiles} more files are open`);
console.log(faults.length === 0 ? "no fault" : faults.slice(0, 20).join("\n"));
process.exit(faults.length === 0 ? 0 : 1);

/** One round. */
async function soak(token: string): Promise<void> {
  const client = new PlantStoreClient({ url: program.url, token, attempts: 1, timeoutMs: 5_000 });
  const ledger = new Ledger();
  const roundEndMs = Math.min(performance.now() + ROUND_MS, endMs);
  const isOver = () => performance.now() >= roundEndMs;
  await Promise.all([ledger.write(slowed(client), isOver), list(token, isOver), ask(isOver)]);
  faults.push(...(await ledger.faults(client)));
  if ((await ledger.askAgain(client)) > 0) faults.push("a write was not answered");
  counts.writes += ledger.answered;
  const ids = await Array.fromAsync(client.listPlants(), ({ id }) => id);
  counts.writes += ids.length;
  while (ids.length > 0) await Promise.all(ids.splice(0, 50).map((id) => client.deletePlant(id)));
}

function slowed(client: PlantStoreClient): LedgerClient {
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

/** Pages, short lists, all plants at once, and a reader who goes away in the middle of them. */
async function list(token: string, isOver: () => boolean): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  const get = (path: string, init: RequestInit = {}) => fetch(program.url + path, { headers, ...init });
  for (let turn = 0; !isOver(); turn++) {
    await Bun.sleep(PAUSE_MS);
    const path = ["/plants?limit=20", "/plants?limit=20&tag=", "/plants?fields=id", `/plants?limit=5&after=${turn}`][
      turn % 4
    ];
    const answer = await get(path ?? "");
    if (answer.status === 200) counts.lists++;
    else faults.push(`GET ${path}: ${answer.status}`);
    await answer.json();
    if (turn % 50 !== 0) continue;
    const leaving = new AbortController();
    await get("/plants", { signal: leaving.signal }).finally(() => leaving.abort());
  }
}

/** What must be refused, each time on a new connection. */
async function ask(isOver: () => boolean): Promise<void> {
  for (let turn = 0; !isOver(); turn++) {
    // Slower than the limit of invalid tokens.
    await Bun.sleep(10 * PAUSE_MS);
    const [status, path, init] = REFUSED[turn % REFUSED.length] as (typeof REFUSED)[number];
    const answer = await fetch(program.url + path, { ...init, keepalive: false });
    await answer.text();
    if (answer.status === status) counts.refusals++;
    else faults.push(`${init.method ?? "GET"} ${path}: ${answer.status} instead of ${status}`);
  }
}

/** What the server holds. */
async function sample(server: Program): Promise<Sample> {
  const memoryMiB = (await residentBytes(server)) / 1024 ** 2;
  return { memoryMiB, files: readdirSync(`/proc/${server.process.pid}/fd`).length };
}

function report(): void {
  const { memoryMiB, files } = samples.at(-1) as Sample;
  const done = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  console.log(
    `round ${samples.length}: ${done.join(", ")}, ${faults.length} faults, ${memoryMiB.toFixed(0)} MiB, ${files} files`,
  );
}

function medianOf(some: readonly Sample[], field: keyof Sample): number {
  return median(some.map((each) => each[field]));
}
