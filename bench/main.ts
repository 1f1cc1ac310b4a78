/** `npm run bench`: see README.md beside this file. */
import { Command, Option } from "commander";
import { describeMachine } from "./machine.ts";
import { peers } from "./peers/index.ts";
import { leaveServerCore } from "./processes.ts";
import { describeFigure } from "./report/console.ts";
import { prepareReport, readRecord, writeReport } from "./report/files.ts";
import type { ScenarioResult } from "./report/record.ts";
import type { Depth, Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/index.ts";

interface Flags {
  readonly quick: boolean;
  readonly scenario?: readonly string[];
  readonly peers?: boolean;
  readonly report?: boolean;
  readonly render: boolean;
}

const about = SCENARIOS.map((each) => `  ${each.name.padEnd(20)} ${each.about}`).join("\n");
const command = new Command("npm run bench --")
  .description("Measures Plant Store beside the limit and beside its peers.")
  .option("--quick", "a look within two minutes: short rounds, with fewer scenarios and without the peers", false)
  .addOption(new Option("--scenario <names...>", "only these scenarios").choices(SCENARIOS.map(({ name }) => name)))
  .option("--peers", "with the peers, also when quick")
  .option("--no-peers", "without the peers")
  .option("--report", "write docs/performance.md, which a full run does anyway")
  .option("--no-report", "write nothing")
  .option("--render", "measure nothing, write docs/performance.md again from docs/performance.json", false)
  .addHelpText("after", `\nScenarios:\n${about}`)
  .parse();

try {
  process.exitCode = await main(command.opts<Flags>());
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function main({ quick, scenario, render, ...flags }: Flags): Promise<number> {
  const { report = !quick && scenario === undefined, peers: withPeers = !quick } = flags;
  if (report || render) await prepareReport();
  if (render) {
    await writeReport(await readRecord());
    return 0;
  }
  leaveServerCore();
  const depth = { ...(quick ? { rounds: 2, seconds: 1 } : { rounds: 5, seconds: 3 }), isQuick: quick, withPeers };
  const started = performance.now();
  const machine = describeMachine();
  const results: ScenarioResult[] = [];
  for (const each of SCENARIOS) {
    if (scenario?.includes(each.name) ?? !(quick && each.isLeftOutWhenQuick)) results.push(await measure(each, depth));
  }
  if (report) {
    const minutes = Math.round((performance.now() - started) / 60_000);
    const date = new Date().toISOString().slice(0, 10);
    const measured = peers.map(({ name, version, durability }) => ({ name, version, durability }));
    await writeReport({ date, minutes, depth, machine, peers: measured, results });
  }
  return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

/** A scenario that fails does not cost the figures of the others. */
async function measure({ name, run }: Scenario, depth: Depth): Promise<ScenarioResult> {
  const startedMs = performance.now();
  console.error(`${name} ...`);
  try {
    const figures = await run(depth);
    for (const figure of figures) console.log(describeFigure(figure));
    console.error(`  took ${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
    return { scenario: name, figures };
  } catch (error) {
    const failure = (error as Error).message;
    console.error(`  failed: ${failure}\n`);
    return { scenario: name, figures: [], failure };
  }
}
