/**
 * `npx bun test/faults/disk.ts`: injects fsync failures and delays in the kernel while clients create plants, then restarts
 * the server and counts the acknowledged plants that are lost. It requires strace, unlike the test suite.
 */
import { join } from "node:path";
import { PlantStoreClient } from "../../src/client/index.ts";
import { commandLine, createToken, run, startServerProcess } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const CLIENTS = 24;
const CREATES = 8_000;
/** More than a database page, so that a checkpoint is soon due. */
const NAME = "\u{1f33f}".repeat(1_024);

const FAULTS: readonly [description: string, suffix: string, injection: string][] = [
  ["the 30th fsync of the WAL fails", "-wal", "error=EIO:when=30"],
  ["every fsync of the database file fails", "", "error=EIO"],
  ["every fsync of the WAL takes 200 ms longer", "-wal", "delay_exit=200000"],
];

if (Bun.which("strace") === null) throw new Error("strace is missing: apt-get install strace");
for (const [description, suffix, injection] of FAULTS)
  console.log(`${description}: ${await createWithFault(suffix, injection)}`);
console.log(`every fsync of the folder fails: ${await failToStart()}`);

/** Starts a server while fsync fails for the folder of its database. Returns its output. */
async function failToStart(): Promise<string> {
  const folder = temporaryFolder();
  const database = ["--database", `sqlite:${join(folder.path, "plants.db")}`];
  const strace = ["strace", "-D", "-f", "-o", "/dev/null", "-P", folder.path, "-e", "trace=fsync,fdatasync"];
  const serve = commandLine(["serve", "--port", "0", "--admin-port", "off", ...database]);
  const child = Bun.spawn([...strace, "-e", "inject=fsync,fdatasync:error=EIO", ...serve], { stderr: "pipe" });
  const stderr = await new Response(child.stderr).text();
  folder.remove();
  return `${stderr.trim()} (exit code ${await child.exited})`;
}

/** Creates plants while fsync of a file fails or is slow, then restarts the server. Returns a summary. */
async function createWithFault(suffix: string, injection: string): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder.path, "plants.db");
  const database = ["--database", `sqlite:${path}`];
  const token = await createToken(`sqlite:${path}`, "ann");
  const strace = ["strace", "-D", "-f", "-o", "/dev/null", "-P", path + suffix, "-e", "trace=fsync,fdatasync"];
  const server = await startServerProcess(database, {}, (args) => [
    ...strace,
    ...["-e", `inject=fsync,fdatasync:${injection}`],
    ...commandLine(args),
  ]);
  const { acknowledged, failed } = await createMany(new PlantStoreClient({ url: server.url, token, attempts: 1 }));
  const exitCode = await server.stop();
  const again = await startServerProcess(database);
  const kept = new Set<bigint>();
  for await (const { id } of new PlantStoreClient({ url: again.url, token }).listPlants({ limit: 5_000 })) kept.add(id);
  await again.stop();
  const lost = acknowledged.filter((id) => !kept.has(id)).length;
  const { stdout, stderr } = await run(["check", ...database]);
  folder.remove();
  const end = exitCode === 0 ? "the server continued" : `the server exited (${exitCode})`;
  return `${acknowledged.length} acknowledged, ${failed} failed, ${end}; ${lost} lost; ${stdout}${stderr}`.trim();
}

/** Creates plants for at most 20 seconds. A client ends after two failures in a row. */
async function createMany(client: PlantStoreClient): Promise<{ acknowledged: bigint[]; failed: number }> {
  const endMs = performance.now() + 20_000;
  const acknowledged: bigint[] = [];
  let next = 0n;
  let failed = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    let failures = 0;
    while (next < CREATES && failures < 2 && performance.now() < endMs) {
      const id = next++;
      const isDone = await client.createPlant({ id, name: NAME }).then(
        () => true,
        () => false,
      );
      failures = isDone ? 0 : failures + 1;
      if (isDone) acknowledged.push(id);
      else failed++;
    }
  });
  await Promise.all(clients);
  return { acknowledged, failed };
}
