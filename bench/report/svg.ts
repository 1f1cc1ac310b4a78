import { createRequire } from "node:module";
import { join } from "node:path";

/** What is used of ECharts, which is no package of the product's. */
interface Echarts {
  init(
    dom: null,
    theme: null,
    options: { renderer: "svg"; ssr: true; width: number; height: number },
  ): { setOption(option: object): void; renderToSVGString(): string; dispose(): void };
}

/** By their use, the colours on a light ground and on a dark one. */
const COLOURS = {
  ground: ["#ffffff", "#0d1117"],
  text: ["#1f2328", "#f0f6fc"],
  quiet: ["#59636e", "#9198a1"],
  line: ["#d8dee4", "#2f353d"],
  product: ["#1a7f37", "#3fb950"],
  second: ["#0550ae", "#58a6ff"],
  third: ["#9a6700", "#d29922"],
  other: ["#afb8c1", "#656d76"],
} as const;

const WIDTH = 840;

/** The colour for a use, on a light ground: {@link renderSvg} sees to the dark one. */
export const colour = (use: keyof typeof COLOURS): string => COLOURS[use][0];

/** Draws a chart of ECharts, 840 wide, as SVG that follows the reader's choice between light and dark. */
export function renderSvg(option: object, title: string, height: number): string {
  const echarts = createRequire(join(import.meta.dir, "package.json"))("echarts") as Echarts;
  const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height });
  chart.setOption({ animation: false, backgroundColor: colour("ground"), textStyle: TEXT, ...option });
  const svg = chart
    .renderToSVGString()
    .replaceAll(/<style[\s\S]*?<\/style>| (class|ecmeta_\w+|pointer-events)="[^"]*"/g, "");
  chart.dispose();
  return `${svg.replace(">", `>\n<title>${title}</title>\n${DARK}`).replaceAll(/\n\n+/g, "\n").trim()}\n`;
}

const TEXT = { fontFamily: "system-ui, -apple-system, 'Segoe UI', sans-serif", color: colour("text") };

const DARK = `<style>@media (prefers-color-scheme: dark) {
${Object.values(COLOURS)
  .flatMap(([light, dark]) => ["fill", "stroke"].map((paint) => `[${paint}="${light}"] { ${paint}: ${dark}; }`))
  .join("\n")}
}</style>`;
