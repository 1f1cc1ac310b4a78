import { BarController, BarElement, CategoryScale, Chart, LinearScale } from "chart.js";

Chart.register(BarController, BarElement, CategoryScale, LinearScale);

/** Pixels reserved for the value to the right of a bar. */
const VALUE_WIDTH = 48;
/** Maximum label length in characters, and font size in pixels. Labels take at most half of the chart's width. */
const labelLimits = (width: number) => ({
  maxLength: width < 280 ? 11 : width < 480 ? 17 : 28,
  size: width < 480 ? 13 : 14,
});

/** A bar of the chart. */
interface Bar {
  readonly label: string;
  readonly value: number;
}

/** Draws a horizontal bar chart in the page's colors; returns a function that removes it. */
export function drawBarChart(canvas: HTMLCanvasElement, bars: readonly Bar[]): () => void {
  const style = getComputedStyle(canvas);
  const { maxLength, size } = labelLimits(canvas.parentElement?.clientWidth ?? 0);
  const labels = bars.map(({ label }) => truncate(label, maxLength));
  const font = { family: style.fontFamily, size };
  const chart = new Chart(canvas, {
    type: "bar",
    data: {
      labels,
      datasets: [{ data: bars.map(({ value }) => value), borderRadius: 4, maxBarThickness: 20 }],
    },
    options: {
      indexAxis: "y",
      animation: false,
      events: [],
      maintainAspectRatio: false,
      layout: { padding: { right: VALUE_WIDTH } },
      scales: {
        x: { display: false, beginAtZero: true },
        y: { grid: { display: false }, border: { display: false }, ticks: { font, color: () => style.color } },
      },
      backgroundColor: () => style.getPropertyValue("--chart-bar"),
    },
    plugins: [{ id: "values", afterDatasetsDraw: (chart) => drawValues(chart, bars, style) }],
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => chart.update();
  dark.addEventListener("change", redraw);
  return () => {
    dark.removeEventListener("change", redraw);
    chart.destroy();
  };
}

/** Writes each bar's value to its right. */
function drawValues(chart: Chart, bars: readonly Bar[], style: CSSStyleDeclaration): void {
  const { ctx } = chart;
  ctx.font = `600 14px ${style.fontFamily}`;
  ctx.fillStyle = style.color;
  ctx.textBaseline = "middle";
  for (const [index, { x, y }] of chart.getDatasetMeta(0).data.entries()) {
    ctx.fillText(bars[index]?.value.toLocaleString("en") ?? "", x + 8, y);
  }
}

const truncate = (label: string, maxLength: number): string =>
  [...label].length > maxLength ? `${[...label].slice(0, maxLength - 1).join("")}…` : label;
