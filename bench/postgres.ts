/**
 * `bun bench/postgres.ts`: one server on PostgreSQL beside pgbench, which does the same in SQL. PostgreSQL, the server
 * and the load share all cores. Needs wrk and pgbench: `apt-get install wrk postgresql-client`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../test/support/postgres.ts";
import { createToken, type Program, startProgram } from "../test/support/program.ts";
import { ascendingIds } from "./load/ids.ts";
import { load } from "./load/wrk.ts";
import type { Exchange } from "./servers/exchange.ts";
import { exchanges } from "./servers/plant-store.ts";
import type { Server } from "./servers/server.ts";
import { median } from "./statistics.ts";

const CONNECTIONS = 64;
const ROUNDS = Number(process.env["ROUNDS"] || 5);
const SECONDS = 4;
const OWNER = "bench";

/** What pgbench sends: the plainest statement for a row, and the statement that the server sends for a list. */
const INSERT = `\\set n :n + 1
\\set id (:run * ${CONNECTIONS} + :client_id) * 10000000 + :n
INSERT INTO plants (owner, id, name, tag, idempotency_key) VALUES ('pgbench', :id, 'Aristolochia californica', 'vine', NULL);`;
const SELECT = `\\set first -9223372036854775807
SELECT id, name, tag FROM plants WHERE owner = '${OWNER}' AND id >= :first ORDER BY id LIMIT 21;`;

/** The load knows a server as the other benchmarks do. */
const NOT_STARTED = { name: "Plant Store", role: "product", exchanges: {}, startMs: 0, stop: async () => {} } as const;

/** One of two that are compared: `run` differs from one measurement to the next. */
interface Contender {
  readonly name: string;
  /** Transactions or requests a second. */
  measure(run: number): Promise<number>;
}

for (const program of ["wrk", "pgbench"]) {
  if (Bun.which(program) === null) throw new Error(`${program} is missing: apt-get install wrk postgresql-client`);
}
const postgres = await startPostgres();
const database = await postgres.newDatabase();
const folder = mkdtempSync(join(tmpdir(), "plantstore-bench-"));
const server = await startProgram(["--database", database.url, "--admin-port", "off"]);
try {
  const token = await createToken(database.url, OWNER);
  const [facts] = await database.query<{ version: string; fsync: string; synchronous_commit: string }>(
    "SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit",
  );
  console.log(`PostgreSQL ${facts?.version}, fsync ${facts?.fsync}, synchronous_commit ${facts?.synchronous_commit}`);
  console.log(`${CONNECTIONS} connections, medians of ${ROUNDS} runs of ${SECONDS} s in turn, nothing pinned\n`);
  const { create, list } = exchanges(token, 20) as Required<ReturnType<typeof exchanges>>;
  await compare("durable creates", wrk(server, create), pgbench(INSERT));
  await compare("lists of 20", wrk(server, list), pgbench(SELECT));
} finally {
  await server.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true });
}

/** Several rounds in turn, after one that warms up, so that a drift of the machine meets both alike. */
async function compare(what: string, ours: Contender, reference: Contender): Promise<void> {
  const rates = new Map<Contender, number[]>([ours, reference].map((contender) => [contender, []]));
  for (let run = 0; run <= ROUNDS; run++) {
    for (const [contender, measured] of rates) {
      const rate = await contender.measure(run);
      if (run > 0) measured.push(rate);
    }
  }
  for (const [{ name }, measured] of rates) {
    const range = `(${Math.round(Math.min(...measured))} to ${Math.round(Math.max(...measured))})`;
    console.log(`${what.padEnd(16)} ${name.padEnd(12)} ${Math.round(median(measured))}/s ${range}`);
  }
  const [our = [], theirs = []] = rates.values();
  console.log(`${what.padEnd(16)} ratio        ${(median(our) / median(theirs)).toFixed(2)}\n`);
}

/** Requests to the server. */
function wrk({ url, process: { pid } }: Program, ask: Exchange): Contender {
  const server: Server = { ...NOT_STARTED, url, pid };
  return {
    name: "Plant Store",
    async measure(run) {
      const ids = ascendingIds(run);
      const measured = await load(server, {
        exchanges: [ask],
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

/** A script of pgbench, prepared once a connection, in sessions that walk the index as the server's do. */
function pgbench(script: string): Contender {
  const path = join(folder, `${script.length}.sql`);
  writeFileSync(path, script);
  return {
    name: "pgbench",
    async measure(run) {
      const options = ["-n", "-M", "prepared", "-c", `${CONNECTIONS}`, "-j", "2", "-T", `${SECONDS}`];
      const variables = ["-D", "n=0", "-D", `run=${run}`];
      const env = { PGOPTIONS: "-c enable_sort=off -c enable_seqscan=off -c plan_cache_mode=force_generic_plan" };
      const output = await print(["pgbench", ...options, ...variables, "-f", path, database.url], env);
      const rate = Number(/^tps = ([\d.]+)/m.exec(output)?.[1]);
      if (Number.isNaN(rate) || !/failed transactions: 0 /.test(output)) throw new Error(`pgbench failed: ${output}`);
      return rate;
    },
  };
}

async function print(command: readonly string[], env: Record<string, string>): Promise<string> {
  const child = Bun.spawn([...command], { env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command[0]} failed: ${stderr}`);
  return stdout;
}
