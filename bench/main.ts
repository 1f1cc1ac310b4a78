/** `npm run bench`: see README.md beside this file. */
import { Command, Option } from "commander";
import { leaveServerCore } from "./processes.ts";
import { describeFigure } from "./report/console.ts";
import type { Depth, Figure, Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/index.ts";

interface Flags {
  readonly quick: boolean;
  readonly scenario?: readonly string[];
  readonly peers?: boolean;
  readonly report?: boolean;
}

const names = SCENARIOS.map(({ name }) => name);
const command = new Command("npm run bench --")
  .description("Measures Plant Store beside the limit and beside its peers, in one run.")
  .option("--quick", "a look within two minutes: short rounds, without peers", false)
  .addOption(new Option("--scenario <names...>", "only these").choices(names))
  .option("--peers", "with the peers also when quick")
  .option("--no-peers", "without the peers")
  .option("--report", "write docs/performance.md; a full run always does")
  .addHelpText(
    "after",
    `\nScenarios:\n${SCENARIOS.map(({ name, about }) => `  ${name.padEnd(16)} ${about}`).join("\n")}`,
  )
  .parse();

await main(command.opts<Flags>());

async function main({ quick, scenario, peers = !quick }: Flags): Promise<void> {
  leaveServerCore();
  const depth: Depth = quick
    ? { rounds: 2, seconds: 1, isQuick: true, withPeers: peers }
    : { rounds: 5, seconds: 3, isQuick: false, withPeers: peers };
  const chosen = SCENARIOS.filter(({ name, isLong }) => scenario?.includes(name) ?? !(quick && isLong));
  let failures = 0;
  for (const each of chosen) {
    const figures = await measure(each, depth);
    failures += figures === undefined ? 1 : 0;
  }
  process.exit(failures === 0 ? 0 : 1);
}

/** A scenario that fails does not cost the figures of the others. */
async function measure(scenario: Scenario, depth: Depth): Promise<readonly Figure[] | undefined> {
  const started = performance.now();
  try {
    const figures = await scenario.run(depth);
    for (const figure of figures) console.log(describeFigure(figure));
    console.error(`  (${scenario.name} took ${Math.round((performance.now() - started) / 1_000)} s)\n`);
    return figures;
  } catch (error) {
    console.error(`${scenario.name} failed: ${(error as Error).message}\n`);
    return undefined;
  }
}
