import { medianOf } from "../comparison.ts";
import type { Measurement, Metric, Percentile } from "../scenario.ts";
import { colorOf, renderSvg } from "./svg.ts";

/** A chart file in `docs/`. */
export interface Chart {
  readonly file: string;
  /** Alt text. */
  readonly alt: string;
  readonly svg: string;
}

const SECONDARY_TEXT = { color: colorOf("secondary"), fontSize: 12 };
const NO_LINE = { axisLine: { show: false }, axisTick: { show: false } };
const GRID_LINE = { splitLine: { lineStyle: { color: colorOf("grid") } } };

/** Draws the charts whose metrics were measured. */
export const drawCharts = (metrics: readonly Metric[]): Chart[] =>
  [latencyChart(metrics), plantsChart(metrics), peersChart(metrics)].filter((chart) => chart !== undefined);

const title = (text: string, left: number | string) => ({
  text,
  left,
  top: 16,
  padding: 0,
  textStyle: { color: colorOf("text"), fontSize: 15, fontWeight: 600 },
});

/** Bar chart: two metrics side by side, one row per server. */
function peersChart(metrics: readonly Metric[]): Chart | undefined {
  const shown = ["durable create, 64 connections", "list of 20, 64 connections"].flatMap(
    (what) => metrics.find((metric) => metric.what === what) ?? [],
  );
  const [first] = shown;
  if (first === undefined || shown.length < 2 || !first.measurements.some(isPeer)) return undefined;
  // ECharts counts rows from the bottom.
  const rows = first.measurements
    .filter((each) => each.missing === undefined && each.role !== "limit")
    .toSorted((a, b) => medianOf(a) - medianOf(b))
    .map(({ server }) => server);
  const height = 80 + rows.length * 38;
  const columns = [130, 500];
  const option = {
    title: [
      title("Durable creates per second", columns[0] as number),
      title("Lists of 20 per second", columns[1] as number),
    ],
    grid: columns.map((left) => ({ left, width: 260, top: 56, bottom: 24 })),
    xAxis: shown.map((_, gridIndex) => ({ type: "value", gridIndex, show: false })),
    yAxis: shown.map((_, gridIndex) => ({
      type: "category",
      gridIndex,
      data: rows,
      ...NO_LINE,
      axisLabel: { show: gridIndex === 0, color: colorOf("text"), fontSize: 13, margin: 12 },
    })),
    series: shown.map((metric, index) => ({
      type: "bar",
      xAxisIndex: index,
      yAxisIndex: index,
      barWidth: 20,
      label: { show: true, position: "right", color: colorOf("text"), fontSize: 13, formatter: formatInteger },
      data: rows.map((server) => bar(metric.measurements.find((each) => each.server === server))),
    })),
  };
  const alt = "Durable creates and lists of 20 per second: Plant Store and other servers";
  return { file: "performance-peers.svg", alt, svg: renderSvg(option, alt, height) };
}

const isPeer = ({ role }: Measurement): boolean => role === "peer";

const bar = (measurement: Measurement | undefined) => ({
  value: Math.round(medianOf(measurement)),
  itemStyle: { color: colorOf(measurement?.role === "product" ? "product" : "other"), borderRadius: [0, 3, 3, 0] },
});

/** Line chart: responses per second by the number of stored plants. */
function plantsChart(metrics: readonly Metric[]): Chart | undefined {
  const shown = metrics.filter(({ measurements }) => measurements.some(({ plants }) => plants !== undefined));
  const [first] = shown;
  if (first === undefined) return undefined;
  const sizes = first.measurements.map(({ plants = 0 }) => plants).toSorted((a, b) => a - b);
  const seriesColors = ["series2", "series3", "product"] as const;
  const option = {
    title: [title("Responses per second by the number of stored plants", 16)],
    grid: { left: 70, right: 230, top: 64, bottom: 44 },
    xAxis: {
      type: "category",
      data: sizes.map(formatCount),
      boundaryGap: false,
      axisLabel: { ...SECONDARY_TEXT, margin: 14 },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: colorOf("other") } },
    },
    yAxis: { type: "value", ...NO_LINE, ...GRID_LINE, axisLabel: { ...SECONDARY_TEXT, formatter: formatInteger } },
    series: shown.map((metric, index) => {
      const color = colorOf(seriesColors[index] ?? "other");
      return {
        type: "line",
        symbol: "circle",
        symbolSize: 7,
        itemStyle: { color },
        lineStyle: { color, width: 2.5 },
        endLabel: { show: true, formatter: metric.what.split(", 64")[0], color, fontSize: 13, distance: 12 },
        labelLayout: { moveOverlap: "shiftY" },
        data: sizes.map((size) => Math.round(medianOf(metric.measurements.find(({ plants }) => plants === size)))),
      };
    }),
  };
  const alt = `Creates and lists per second with ${formatCount(sizes[0] ?? 0)} to ${formatCount(sizes.at(-1) ?? 0)} stored plants`;
  return { file: "performance-plants.svg", alt, svg: renderSvg(option, alt, 340) };
}

/** Line charts: latency by percentile, with one axis interval per nine. */
function latencyChart(metrics: readonly Metric[]): Chart | undefined {
  const shown = metrics.filter(({ measurements: [product, other] }) => product?.percentiles && other?.percentiles);
  if (shown.length < 2) return undefined;
  const columns = [70, 490];
  const times = shown.flatMap(({ measurements }) => measurements.flatMap(({ percentiles = [] }) => percentiles));
  const exponents = times.map(({ ms }) => Math.log10(ms));
  const range = { min: 10 ** Math.floor(Math.min(...exponents)), max: 10 ** Math.ceil(Math.max(...exponents)) };
  const option = {
    title: shown.map(({ what }, index) => title(panelTitle(what), columns[index] as number)),
    grid: columns.map((left) => ({ left, width: 260, top: 64, bottom: 64 })),
    xAxis: shown.map((_, gridIndex) => ({
      type: "value",
      gridIndex,
      min: 0,
      max: 4,
      interval: 1,
      name: "percentile",
      nameLocation: "middle",
      nameGap: 36,
      nameTextStyle: SECONDARY_TEXT,
      splitLine: { show: false },
      axisTick: { show: false },
      axisLine: { lineStyle: { color: colorOf("other") } },
      axisLabel: {
        ...SECONDARY_TEXT,
        margin: 14,
        formatter: (nines: number) => ["0%", "90%", "99%", "99.9%", "99.99%"][nines],
      },
    })),
    yAxis: shown.map((_, gridIndex) => ({
      type: "log",
      gridIndex,
      ...range,
      ...NO_LINE,
      ...GRID_LINE,
      axisLabel: { ...SECONDARY_TEXT, formatter: (ms: number) => `${ms.toLocaleString("en")} ms` },
    })),
    series: shown.flatMap(({ measurements }, panel) => measurements.map((each) => latencyLine(each, panel))),
  };
  const alt = "Latency of creates and lists sent at fixed times, by percentile: Plant Store and nginx";
  return { file: "performance-latency.svg", alt, svg: renderSvg(option, alt, 340) };
}

/** Title of a latency panel: `Durable create at 23,000/s`. */
const panelTitle = (what: string): string => {
  const name = what.replace(/^p99 of a (.*?), open loop( at .*?\/s).*/, "$1$2");
  return name.charAt(0).toUpperCase() + name.slice(1);
};

function latencyLine({ server, role, percentiles = [] }: Measurement, panel: number) {
  const color = colorOf(role === "product" ? "product" : "other");
  return {
    type: "line",
    xAxisIndex: panel,
    yAxisIndex: panel,
    symbol: "none",
    smooth: 0.2,
    lineStyle: { color, width: 2.5 },
    endLabel: { show: true, formatter: server, color: role === "product" ? color : colorOf("secondary"), fontSize: 13 },
    labelLayout: { moveOverlap: "shiftY" },
    data: percentiles.map(({ share, ms }: Percentile) => [-Math.log10(1 - share), ms]),
  };
}

const formatCount = (plants: number): string =>
  plants >= 1_000_000 ? `${plants / 1_000_000} million` : `${plants / 1_000} thousand`;

const formatInteger = (value: number | { readonly value: number }): string =>
  (typeof value === "number" ? value : value.value).toLocaleString("en");
