import { createRequire } from "node:module";
import { join } from "node:path";

/** The part of the ECharts API in use. ECharts is installed for the benchmark only. */
interface Echarts {
  init(
    dom: null,
    theme: null,
    options: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

/** Colors by use: for the light theme and for the dark one. */
const COLORS = {
  background: ["#ffffff", "#0d1117"],
  text: ["#1f2328", "#f0f6fc"],
  secondary: ["#59636e", "#9198a1"],
  grid: ["#d8dee4", "#2f353d"],
  product: ["#1a7f37", "#3fb950"],
  series2: ["#0550ae", "#58a6ff"],
  series3: ["#9a6700", "#d29922"],
  other: ["#afb8c1", "#656d76"],
} as const;

const WIDTH = 840;

/** Returns the light-theme color for a use. {@link renderSvg} adds the dark one. */
export const colorOf = (use: keyof typeof COLORS): string => COLORS[use][0];

/** Renders an ECharts option as SVG, 840 px wide, that follows the reader's light or dark theme. */
export function renderSvg(option: object, title: string, height: number): string {
  const echarts = createRequire(join(import.meta.dir, "package.json"))("echarts") as Echarts;
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, backgroundColor: colorOf("background"), textStyle: TEXT, ...option });
  const svg = chart
    .renderToSVGString()
    .replaceAll(/<style[\s\S]*?<\/style>| (class|ecmeta_\w+|pointer-events)="[^"]*"/g, "");
  chart.dispose();
  return `${svg.replace(">", `>\n<title>${title}</title>\n${DARK}`).replaceAll(/\n\n+/g, "\n").trim()}\n`;
}

const TEXT = { fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif", color: colorOf("text") };

const DARK = `<style>@media (prefers-color-scheme: dark) {
${Object.values(COLORS)
  .flatMap(([light, dark]) => ["fill", "stroke"].map((paint) => `[${paint}="${light}"] { ${paint}: ${dark}; }`))
  .join("\n")}
}</style>`;
