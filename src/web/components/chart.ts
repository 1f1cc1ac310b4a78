import { BarController, BarElement, CategoryScale, Chart, LinearScale } from "chart.js";

Chart.register(BarController, BarElement, CategoryScale, LinearScale);

/** Pixels for a number at the end of a bar. */
const NUMBER_WIDTH = 48;
/** Characters of a label and their height in pixels, by the width of the chart: half of it is for labels at most. */
const labelsFor = (width: number) => ({
  length: width < 280 ? 11 : width < 480 ? 17 : 28,
  size: width < 480 ? 13 : 14,
});

/** One bar of a chart. */
interface Bar {
  readonly label: string;
  readonly value: number;
}

/** Draws lying bars, with their numbers, in the colours of the page; returns what takes them away again. */
export function drawBars(canvas: HTMLCanvasElement, bars: readonly Bar[]): () => void {
  const style = getComputedStyle(canvas);
  const { length, size } = labelsFor(canvas.parentElement?.clientWidth ?? 0);
  const labels = bars.map(({ label }) => shorten(label, length));
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
      layout: { padding: { right: NUMBER_WIDTH } },
      scales: {
        x: { display: false, beginAtZero: true },
        y: { grid: { display: false }, border: { display: false }, ticks: { font, color: () => style.color } },
      },
      backgroundColor: () => style.getPropertyValue("--bar"),
    },
    plugins: [{ id: "numbers", afterDatasetsDraw: (drawn) => writeNumbers(drawn, bars, style) }],
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => chart.update();
  dark.addEventListener("change", redraw);
  return () => {
    dark.removeEventListener("change", redraw);
    chart.destroy();
  };
}

/** The number at the end of each bar, so that nobody has to measure. */
function writeNumbers(chart: Chart, bars: readonly Bar[], style: CSSStyleDeclaration): void {
  const { ctx } = chart;
  ctx.font = `600 14px ${style.fontFamily}`;
  ctx.fillStyle = style.color;
  ctx.textBaseline = "middle";
  for (const [index, { x, y }] of chart.getDatasetMeta(0).data.entries()) {
    ctx.fillText(bars[index]?.value.toLocaleString("en") ?? "", x + 8, y);
  }
}

const shorten = (label: string, length: number): string =>
  [...label].length > length ? `${[...label].slice(0, length - 1).join("")}…` : label;
