import { medianOf } from "../judge.ts";
import type { Figure, Measurement, Percentile } from "../scenario.ts";
import { colour, renderSvg } from "./svg.ts";

/** A chart as a file of `docs/`. */
export interface Chart {
  readonly file: string;
  /** What it shows, for whoever does not see it. */
  readonly alt: string;
  readonly svg: string;
}

const QUIET = { color: colour("quiet"), fontSize: 12 };
const NO_LINE = { axisLine: { show: false }, axisTick: { show: false } };
const GRID_LINE = { splitLine: { lineStyle: { color: colour("line") } } };

/** The charts that these figures suffice for. */
export const drawCharts = (figures: readonly Figure[]): Chart[] =>
  [latencyChart(figures), plantsChart(figures), peersChart(figures)].filter((chart) => chart !== undefined);

const title = (text: string, left: number | string) => ({
  text,
  left,
  top: 16,
  padding: 0,
  textStyle: { color: colour("text"), fontSize: 15, fontWeight: 600 },
});

/** Bars: two figures side by side, a row for each server. */
function peersChart(figures: readonly Figure[]): Chart | undefined {
  const shown = ["durable create, 64 connections", "list of 20, 64 connections"].flatMap(
    (what) => figures.find((figure) => figure.what === what) ?? [],
  );
  const [first] = shown;
  if (first === undefined || shown.length < 2 || !first.measurements.some(isPeer)) return undefined;
  // ECharts counts rows from below.
  const rows = first.measurements
    .filter((each) => each.missing === undefined && each.role !== "limit")
    .toSorted((a, b) => medianOf(a) - medianOf(b))
    .map(({ server }) => server);
  const height = 80 + rows.length * 38;
  const columns = [130, 500];
  const option = {
    title: [
      title("Durable creates a second", columns[0] as number),
      title("Lists of 20 a second", columns[1] as number),
    ],
    grid: columns.map((left) => ({ left, width: 260, top: 56, bottom: 24 })),
    xAxis: shown.map((_, gridIndex) => ({ type: "value", gridIndex, show: false })),
    yAxis: shown.map((_, gridIndex) => ({
      type: "category",
      gridIndex,
      data: rows,
      ...NO_LINE,
      axisLabel: { show: gridIndex === 0, color: colour("text"), fontSize: 13, margin: 12 },
    })),
    series: shown.map((figure, index) => ({
      type: "bar",
      xAxisIndex: index,
      yAxisIndex: index,
      barWidth: 20,
      label: { show: true, position: "right", color: colour("text"), fontSize: 13, formatter: thousands },
      data: rows.map((server) => bar(figure.measurements.find((each) => each.server === server))),
    })),
  };
  const alt = "Durable creates and lists of 20 a second: Plant Store and other servers";
  return { file: "performance-peers.svg", alt, svg: renderSvg(option, alt, height) };
}

const isPeer = ({ role }: Measurement): boolean => role === "peer";

const bar = (measurement: Measurement | undefined) => ({
  value: Math.round(medianOf(measurement)),
  itemStyle: { color: colour(measurement?.role === "product" ? "product" : "other"), borderRadius: [0, 3, 3, 0] },
});

/** Lines: answers a second over the number of plants in the store. */
function plantsChart(figures: readonly Figure[]): Chart | undefined {
  const shown = figures.filter(({ measurements }) => measurements.some(({ plants }) => plants !== undefined));
  const [first] = shown;
  if (first === undefined) return undefined;
  const sizes = first.measurements.map(({ plants = 0 }) => plants).toSorted((a, b) => a - b);
  const uses = ["second", "third", "product"] as const;
  const option = {
    title: [title("Answers a second over the number of plants in the store", 16)],
    grid: { left: 70, right: 230, top: 64, bottom: 44 },
    xAxis: {
      type: "category",
      data: sizes.map(inWords),
      boundaryGap: false,
      axisLabel: { ...QUIET, margin: 14 },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: colour("other") } },
    },
    yAxis: { type: "value", ...NO_LINE, ...GRID_LINE, axisLabel: { ...QUIET, formatter: thousands } },
    series: shown.map((figure, index) => {
      const use = colour(uses[index] ?? "other");
      return {
        type: "line",
        symbol: "circle",
        symbolSize: 7,
        itemStyle: { color: use },
        lineStyle: { color: use, width: 2.5 },
        endLabel: { show: true, formatter: figure.what.split(", 64")[0], color: use, fontSize: 13, distance: 12 },
        labelLayout: { moveOverlap: "shiftY" },
        data: sizes.map((size) => Math.round(medianOf(figure.measurements.find(({ plants }) => plants === size)))),
      };
    }),
  };
  const alt = `Creates and lists a second with ${inWords(sizes[0] ?? 0)} to ${inWords(sizes.at(-1) ?? 0)} plants in the store`;
  return { file: "performance-plants.svg", alt, svg: renderSvg(option, alt, 340) };
}

/** Lines: the share of the answers that came within a time, the tail drawn out. */
function latencyChart(figures: readonly Figure[]): Chart | undefined {
  const shown = figures.filter(({ measurements: [product, other] }) => product?.percentiles && other?.percentiles);
  if (shown.length < 2) return undefined;
  const columns = [70, 490];
  const times = shown.flatMap(({ measurements }) => measurements.flatMap(({ percentiles = [] }) => percentiles));
  const tens = times.map(({ ms }) => Math.log10(ms));
  const range = { min: 10 ** Math.floor(Math.min(...tens)), max: 10 ** Math.ceil(Math.max(...tens)) };
  const option = {
    title: shown.map(({ what }, index) => title(panelTitle(what), columns[index] as number)),
    grid: columns.map((left) => ({ left, width: 260, top: 64, bottom: 64 })),
    xAxis: shown.map((_, gridIndex) => ({
      type: "value",
      gridIndex,
      min: 0,
      max: 4,
      interval: 1,
      name: "share of the answers within that time",
      nameLocation: "middle",
      nameGap: 36,
      nameTextStyle: QUIET,
      splitLine: { show: false },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: colour("other") } },
      axisLabel: { ...QUIET, margin: 14, formatter: (nines: number) => ["0%", "90%", "99%", "99.9%", "99.99%"][nines] },
    })),
    yAxis: shown.map((_, gridIndex) => ({
      type: "log",
      gridIndex,
      ...range,
      ...NO_LINE,
      ...GRID_LINE,
      axisLabel: { ...QUIET, formatter: (ms: number) => `${ms.toLocaleString("en")} ms` },
    })),
    series: shown.flatMap(({ measurements }, panel) => measurements.map((each) => latencyLine(each, panel))),
  };
  const alt = "Latency of creates and lists sent at fixed times, by percentile: Plant Store and nginx";
  return { file: "performance-latency.svg", alt, svg: renderSvg(option, alt, 340) };
}

/** `Durable create at 23,000/s` */
const panelTitle = (what: string): string => {
  const name = what.replace(/^p99 of a (.*?), open loop( at .*?\/s).*/, "$1$2");
  return name.charAt(0).toUpperCase() + name.slice(1);
};

function latencyLine({ server, role, percentiles = [] }: Measurement, panel: number) {
  const use = colour(role === "product" ? "product" : "other");
  return {
    type: "line",
    xAxisIndex: panel,
    yAxisIndex: panel,
    symbol: "none",
    smooth: 0.2,
    lineStyle: { color: use, width: 2.5 },
    endLabel: { show: true, formatter: server, color: role === "product" ? use : colour("quiet"), fontSize: 13 },
    labelLayout: { moveOverlap: "shiftY" },
    data: percentiles.map(({ share, ms }: Percentile) => [-Math.log10(1 - share), ms]),
  };
}

const inWords = (plants: number): string =>
  plants >= 1_000_000 ? `${plants / 1_000_000} million` : `${plants / 1_000} thousand`;

const thousands = (value: number | { readonly value: number }): string =>
  (typeof value === "number" ? value : value.value).toLocaleString("en");
