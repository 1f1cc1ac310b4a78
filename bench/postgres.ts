/**
 * `bun bench/postgres.ts`: compares one server on PostgreSQL with pgbench running the equivalent SQL. PostgreSQL, the
 * server and the load generator share all cores. Requires wrk and pgbench: `apt-get install wrk postgresql-client`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres.ts";
import { createToken, type ServerProcess, startServerProcess } from "../test/support/program.ts";
import { ascendingIds } from "./load/ids.ts";
import { runWrk } from "./load/wrk.ts";
import type { Exchange } from "./servers/exchange.ts";
import { exchanges } from "./servers/plant-store.ts";
import type { Server } from "./servers/server.ts";
import { median } from "./statistics.ts";

const CONNECTIONS = 64;
const ROUNDS = Number(process.env["ROUNDS"] || 5);
const SECONDS = 4;
const OWNER = "bench";

/** pgbench scripts: the simplest INSERT of one row, and the server's own SELECT for a list. */
const INSERT = `\\set n :n + 1
\\set id (:run * ${CONNECTIONS} + :client_id) * 10000000 + :n
INSERT INTO plants (owner, id, name, tag, idempotency_key) VALUES ('pgbench', :id, 'Aristolochia californica', 'vine', NULL);`;
const SELECT = `\\set first -9223372036854775807
SELECT id, name, tag FROM plants WHERE owner = '${OWNER}' AND id >= :first ORDER BY id LIMIT 21;`;

/** Fields of `Server` that the load generator does not use. */
const UNUSED_FIELDS = {
  name: "Plant Store",
  role: "product",
  exchanges: {},
  startMs: 0,
  stop: async () => {},
} as const;

/** A system under test. */
interface Candidate {
  readonly name: string;
  /** Measures requests or transactions per second. `run` is different in each call. */
  measure(run: number): Promise<number>;
}

for (const program of ["wrk", "pgbench"]) {
  if (Bun.which(program) === null) throw new Error(`${program} is missing: apt-get install wrk postgresql-client`);
}
const postgres = await startPostgres();
const database = await postgres.newDatabase();
const folder = mkdtempSync(join(tmpdir(), "plantstore-bench-"));
const server = await startServerProcess(["--database", database.url, "--admin-port", "off"]);
try {
  const token = await createToken(database.url, OWNER);
  const [settings] = await database.query<{ version: string; fsync: string; synchronous_commit: string }>(
    "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit",
  );
  console.log(
    `PostgreSQL ${settings?.version}, fsync ${settings?.fsync}, synchronous_commit ${settings?.synchronous_commit}`,
  );
  console.log(`${CONNECTIONS} connections, medians of ${ROUNDS} interleaved runs of ${SECONDS} s, no CPU pinning\n`);
  const { create, list } = exchanges(token, 20) as Required<ReturnType<typeof exchanges>>;
  await compare("durable creates", wrk(server, create), pgbench(INSERT));
  await compare("lists of 20", wrk(server, list), pgbench(SELECT));
} finally {
  await server.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true });
}

/** Interleaves the runs, so that drift of the machine affects both equally. The first run is a warm-up. */
async function compare(operation: string, product: Candidate, reference: Candidate): Promise<void> {
  const rates = new Map<Candidate, number[]>([product, reference].map((candidate) => [candidate, []]));
  for (let run = 0; run <= ROUNDS; run++) {
    for (const [candidate, measured] of rates) {
      const rate = await candidate.measure(run);
      if (run > 0) measured.push(rate);
    }
  }
  for (const [{ name }, measured] of rates) {
    const range = `(${Math.round(Math.min(...measured))} to ${Math.round(Math.max(...measured))})`;
    console.log(`${operation.padEnd(16)} ${name.padEnd(12)} ${Math.round(median(measured))}/s ${range}`);
  }
  const [productRates = [], referenceRates = []] = rates.values();
  console.log(`${operation.padEnd(16)} ratio        ${(median(productRates) / median(referenceRates)).toFixed(2)}\n`);
}

/** Sends requests to the server with wrk. */
function wrk({ url, process: { pid } }: ServerProcess, exchange: Exchange): Candidate {
  const server: Server = { ...UNUSED_FIELDS, url, pid };
  return {
    name: "Plant Store",
    async measure(run) {
      const ids = ascendingIds(run);
      const measured = await runWrk(server, {
        exchanges: [exchange],
        ids,
        connections: CONNECTIONS,
        seconds: SECONDS,
        cores: "0,1",
      });
      if (measured.errors !== 0) throw new Error(`${measured.errors} requests failed`);
      return measured.perSecond;
    },
  };
}

/** Runs a pgbench script with prepared statements and the planner settings of the server's sessions. */
function pgbench(script: string): Candidate {
  const path = join(folder, `${script.length}.sql`);
  writeFileSync(path, script);
  return {
    name: "pgbench",
    async measure(run) {
      const options = ["-n", "-M", "prepared", "-c", `${CONNECTIONS}`, "-j", "2", "-T", `${SECONDS}`];
      const variables = ["-D", "n=0", "-D", `run=${run}`];
      const env = { PGOPTIONS: "-c enable_sort=off -c enable_seqscan=off -c plan_cache_mode=force_generic_plan" };
      const output = await outputOf(["pgbench", ...options, ...variables, "-f", path, database.url], env);
      const rate = Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
      if (Number.isNaN(rate) || !/failed transactions: 0 /.test(output)) throw new Error(`pgbench failed: ${output}`);
      return rate;
    },
  };
}

async function outputOf(command: readonly string[], env: Record<string, string>): Promise<string> {
  const child = Bun.spawn([...command], { env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command[0]} failed: ${stderr}`);
  return stdout;
}
