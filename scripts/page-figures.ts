/** `npm run page-figures`: how large the page is, how soon it is painted, how it scrolls through 100,000 plants. */

import type { Browser, Page } from "playwright-core";
import { bundlePage } from "../src/http/bundle.ts";
import { openBrowser } from "../test/support/browser.ts";
import { newOwner, plantAll, startService } from "../test/support/service.ts";

const LOADS = 15;
const PLANTS = 100_000;
const FRAMES = 300;

console.log("Size, compressed, in bytes:");
let total = 0;
for (const { path, text } of await bundlePage()) {
  const { length } = Bun.gzipSync(new TextEncoder().encode(text), { level: 9 });
  if (/\.(js|css)$/.test(path) && !path.includes("/chart-")) total += length;
  console.log(`${String(length).padStart(8)}  ${path}`);
}
console.log(`${String(total).padStart(8)}  script and style without the chart, which is loaded on demand\n`);

const service = await startService();
const owner = newOwner();
await plantAll(
  service,
  owner,
  Array.from({ length: PLANTS }, (_, i) => ({ id: BigInt(i), name: `Plant ${i}` })),
);
const token = await service.token({ owner });
const browser = await openBrowser();

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;
const milliseconds = (value: number) => `${value.toFixed(0).padStart(8)}`;

/** Opens the page as a new visitor; milliseconds until something is painted, and until the first plants are there. */
async function load(browser: Browser): Promise<[paintedMs: number, listedMs: number]> {
  const page = await browser.newPage();
  await page.goto(`${service.url}/#token=${token}`);
  await page.locator("tbody tr[id]").first().waitFor();
  const times = await page.evaluate((): [number, number] => {
    const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN;
    return [painted, performance.now()];
  });
  await page.close();
  return times;
}

await load(browser);
const loads: [number, number][] = [];
for (let i = 0; i < LOADS; i++) loads.push(await load(browser));
console.log(`Milliseconds, of ${LOADS} new visitors the median and the worst:`);
for (const [name, index] of [
  ["first contentful paint", 0],
  ["the first plants", 1],
] as const) {
  const times = loads.map((each) => each[index]);
  console.log(`${milliseconds(median(times))}${milliseconds(Math.max(...times))}  ${name}`);
}

/** Milliseconds from frame to frame while the list scrolls by more than a window each time. */
const scroll = (page: Page) =>
  page.evaluate(async (frames) => {
    const times: number[] = [];
    let last = performance.now();
    for (let i = 0; i < frames; i++) {
      scrollBy(0, i % 100 === 99 ? 500_000 : 1_500);
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - last);
      last = performance.now();
    }
    return times;
  }, FRAMES);

const page = await browser.newPage();
await page.goto(`${service.url}/#token=${token}`);
await page.getByRole("button", { name: "Load all" }).click();
await page.getByText(`${PLANTS.toLocaleString("en")} plants`).waitFor({ timeout: 120_000 });
const frames = await scroll(page);
console.log(
  `\nMilliseconds a frame, scrolling through ${PLANTS.toLocaleString("en")} plants, the median and the worst:`,
);
console.log(`${milliseconds(median(frames))}${milliseconds(Math.max(...frames))}`);
await browser.close();
await service.stop();
