/**
 * `npx bun test/faults/disk.ts`: lets the kernel's answers to fsync fail or come late while clients create, then starts
 * the server again and counts what was answered and is gone. It needs strace, which the test suite does without.
 */
import { join } from "node:path";
import { PlantStoreClient } from "../../src/client/index.ts";
import { commandLine, createToken, run, startProgram } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const CLIENTS = 24;
const CREATES = 8_000;
/** A page for each plant and more, so that the log is soon due to be written back. */
const NAME = "\u{1f33f}".repeat(1_024);

const FAULTS: readonly [what: string, suffix: string, injection: string][] = [
  ["the 30th fsync of the log fails", "-wal", "error=EIO:when=30"],
  ["every fsync of the database file fails", "", "error=EIO"],
  ["every fsync of the log takes 200 ms more", "-wal", "delay_exit=200000"],
];

if (Bun.which("strace") === null) throw new Error("strace makes the faults and is missing: apt-get install strace");
for (const [what, suffix, injection] of FAULTS) console.log(`${what}: ${await meet(suffix, injection)}`);
console.log(`every fsync of the folder fails: ${await failToStart()}`);

/** Starts a server while fsync fails for the folder of its database; resolves with what it prints. */
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

async function meet(suffix: string, injection: string): Promise<string> {
  const folder = temporaryFolder();
  const path = join(folder.path, "plants.db");
  const database = ["--database", `sqlite:${path}`];
  const token = await createToken(`sqlite:${path}`, "ann");
  const strace = ["strace", "-D", "-f", "-o", "/dev/null", "-P", path + suffix, "-e", "trace=fsync,fdatasync"];
  const program = await startProgram(database, {}, (args) => [
    ...strace,
    ...["-e", `inject=fsync,fdatasync:${injection}`],
    ...commandLine(args),
  ]);
  const { answered, unknown } = await createMany(new PlantStoreClient({ url: program.url, token, attempts: 1 }));
  const exitCode = await program.stop();
  const again = await startProgram(database);
  const kept = new Set<bigint>();
  for await (const { id } of new PlantStoreClient({ url: again.url, token }).listPlants({ limit: 5_000 })) kept.add(id);
  await again.stop();
  const lost = answered.filter((id) => !kept.has(id)).length;
  const { stdout, stderr } = await run(["check", ...database]);
  folder.remove();
  const end = exitCode === 0 ? "the server went on" : `the server ended itself (${exitCode})`;
  return `${answered.length} answered, ${unknown} not, ${end}; ${lost} lost; ${stdout}${stderr}`.trim();
}

/** Creates until all are answered, or two in a row of one client are not. */
async function createMany(client: PlantStoreClient): Promise<{ answered: bigint[]; unknown: number }> {
  const endMs = performance.now() + 20_000;
  const answered: bigint[] = [];
  let next = 0n;
  let unknown = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    let failures = 0;
    while (next < CREATES && failures < 2 && performance.now() < endMs) {
      const id = next++;
      const isDone = await client.createPlant({ id, name: NAME }).then(
        () => true,
        () => false,
      );
      failures = isDone ? 0 : failures + 1;
      if (isDone) answered.push(id);
      else unknown++;
    }
  });
  await Promise.all(clients);
  return { answered, unknown };
}
