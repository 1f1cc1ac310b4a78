import { type Comparison, compareWithLimits } from "../judge.ts";
import type { Figure, Measurement } from "../scenario.ts";
import { formatMeasurement, formatRatio, formatTarget, formatValue } from "./format.ts";
import { describePeers } from "./peers.ts";
import type { RunRecord } from "./record.ts";
import { table } from "./table.ts";

/** The part of `docs/performance.md` that a run writes, in Markdown; `charts` are files beside it, with what they show. */
export function writePage(record: RunRecord, charts: ReadonlyMap<string, string>): string {
  const figures = record.results.flatMap((result) => result.figures);
  const sections: [heading: string, ...parts: string[]][] = [
    ["Beside the limit", describeLimits(figures), describeFailures(record)],
    ["Beside other servers", draw(charts, "performance-peers.svg"), describePeers(figures, record.peers)],
    ["Latency", draw(charts, "performance-latency.svg"), describeLatencies(figures)],
    ["Number of plants", draw(charts, "performance-plants.svg")],
  ];
  const filled = sections
    .map(([heading, ...parts]) => [`## ${heading}`, ...parts.filter((part) => part !== "")])
    .filter((parts) => parts.length > 1);
  return [introduce(record), ...filled.flat()].join("\n\n");
}

const draw = (charts: ReadonlyMap<string, string>, file: string): string =>
  charts.has(file) ? `![${charts.get(file)}](${file})` : "";

function introduce({ date, minutes, depth, machine }: RunRecord): string {
  const { processor, cores, memoryGiB, kernel, fileSystem, fsyncsPerSecond } = machine;
  const versions = Object.entries(machine.versions).map(([name, version]) => `${name} ${version}`);
  return `Written by \`npm run bench\` on ${date} in ${minutes} minutes${depth.isQuick ? " (**a quick run: its figures mean little**)" : ""}.
[bench/README.md](../bench/README.md) tells how it measures; [performance.json](performance.json) has every round.

- Machine: ${processor}, ${cores} cores, ${memoryGiB} GiB, ${kernel}, ${fileSystem} on a disk that takes ${fsyncsPerSecond.toLocaleString("en")} fsyncs a second, one by one.
- Versions: ${versions.join(", ")}.
- The server has one core and the load the other, unless the table says otherwise. Figures are medians of
  ${depth.rounds} rounds of ${depth.seconds} s, in which the servers take turns; ± is half of the spread between the rounds.
- The limit is nginx answering the same bytes as constants. Where it was less than 90% busy, the load was the limit.
- An open loop sends at fixed times, whatever is still unanswered, and counts latency from those times.
- The targets were written down before measuring.`;
}

function describeLimits(figures: readonly Figure[]): string {
  const head = ["what", "Plant Store", "beside", "ratio", "target", "met"];
  const rows = figures.flatMap((figure) =>
    compareWithLimits(figure).map((comparison, index) => {
      const { other, ratio, target } = comparison;
      const own = [figure.what, formatMeasurement(figure.measurements[0] as Measurement, figure.unit)];
      return [
        ...(index === 0 ? own : ["", ""]),
        other === undefined ? "" : `${other.server} ${formatMeasurement(other, figure.unit)}`,
        ratio === undefined ? "" : formatRatio(ratio),
        target === undefined ? "" : formatTarget(target, figure.unit),
        isMet(comparison),
      ];
    }),
  );
  return rows.length === 0 ? "" : table(head, rows);
}

function isMet({ target, isMet }: Comparison): string {
  if (target === undefined) return "";
  return isMet === undefined ? "unknown" : isMet ? "yes" : "**no**";
}

function describeLatencies(figures: readonly Figure[]): string {
  const shares = [0.5, 0.99, 0.999];
  const rows = figures.flatMap(({ what, measurements }) =>
    measurements
      .filter(({ percentiles }) => percentiles !== undefined)
      .map(({ server, percentiles }) => {
        const times = shares.map((share) => percentiles?.find((each) => each.share === share)?.ms ?? Number.NaN);
        return [what.replace("p99 of a ", ""), server, ...times.map((ms) => formatValue(ms, "ms"))];
      }),
  );
  return rows.length === 0 ? "" : table(["what", "server", "p50", "p99", "p99.9"], rows);
}

const describeFailures = ({ results }: RunRecord): string =>
  results
    .filter(({ failure }) => failure !== undefined)
    .map(({ scenario, failure }) => `**${scenario} failed:** ${failure}`)
    .join("\n\n");
