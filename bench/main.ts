/** `npm run bench`: see README.md in this folder. */
import { Command, Option } from "commander";
import { describeMachine } from "./machine.ts";
import { peers } from "./peers/index.ts";
import { reserveServerCore } from "./processes.ts";
import { formatMetric } from "./report/console.ts";
import { prepareReport, readRecord, writeReport } from "./report/files.ts";
import type { ScenarioResult } from "./report/record.ts";
import type { RunSettings, Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/index.ts";

interface Flags {
  readonly quick: boolean;
  readonly scenario?: readonly string[];
  readonly peers?: boolean;
  readonly against?: string;
  readonly report?: boolean;
  readonly render: boolean;
}

const scenarioList = SCENARIOS.map((each) => `  ${each.name.padEnd(20)} ${each.description}`).join("\n");
const command = new Command("npm run bench --")
  .description("Compares Plant Store with its performance limits and with other servers (peers).")
  .option("--quick", "run for about two minutes: short rounds, fewer scenarios, no peers", false)
  .addOption(new Option("--scenario <names...>", "run only these scenarios").choices(SCENARIOS.map(({ name }) => name)))
  .option("--peers", "include the peers, also with --quick")
  .option("--no-peers", "skip the peers")
  .option("--against <checkout>", "also measure the Plant Store in this folder, in the same rounds; writes no report")
  .option("--report", "write docs/performance.md; the default for a full run")
  .option("--no-report", "do not write docs/performance.md")
  .option("--render", "render docs/performance.md from docs/performance.json without measuring", false)
  .addHelpText("after", `\nScenarios:\n${scenarioList}`)
  .parse();

try {
  process.exitCode = await main(command.opts<Flags>());
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function main({ quick, scenario, render, ...flags }: Flags): Promise<number> {
  const { against, peers: withPeers = !quick && against === undefined } = flags;
  const { report = !quick && scenario === undefined && against === undefined } = flags;
  if (report || render) await prepareReport();
  if (render) {
    await writeReport(await readRecord());
    return 0;
  }
  reserveServerCore();
  const length = quick ? { rounds: 2, seconds: 1 } : { rounds: 5, seconds: 3 };
  const settings = { ...length, isQuick: quick, withPeers, against };
  const startedMs = performance.now();
  const machine = describeMachine();
  const results: ScenarioResult[] = [];
  for (const each of SCENARIOS) {
    const isSelected = scenario?.includes(each.name) ?? !(quick && each.isSkippedWhenQuick);
    if (isSelected) results.push(await runScenario(each, settings));
  }
  if (report) {
    const minutes = Math.round((performance.now() - startedMs) / 60_000);
    const date = new Date().toISOString().slice(0, 10);
    const measuredPeers = peers.map(({ name, version, durability }) => ({ name, version, durability }));
    await writeReport({ date, minutes, depth: settings, machine, peers: measuredPeers, results });
  }
  return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
}

/** Runs a scenario. A failure is recorded, so that the run continues with the other scenarios. */
async function runScenario({ name, run }: Scenario, settings: RunSettings): Promise<ScenarioResult> {
  const startedMs = performance.now();
  console.error(`${name} ...`);
  try {
    const metrics = await run(settings);
    for (const metric of metrics) console.log(formatMetric(metric));
    console.error(`  took ${Math.round((performance.now() - startedMs) / 1_000)} s\n`);
    return { scenario: name, figures: metrics };
  } catch (error) {
    const failure = (error as Error).message;
    console.error(`  failed: ${failure}\n`);
    return { scenario: name, figures: [], failure };
  }
}
