/** `npm run measure-page`: measures the web page's size, load times, and frame times with 100,000 plants. */

import type { Browser, Page } from "playwright-core";
import { bundlePage } from "../src/http/bundle.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { insertPlants, newOwner, startService } from "../test/support/service.ts";

const LOADS = 15;
const PLANTS = 100_000;
const FRAMES = 300;

console.log("Size in bytes (gzip):");
let total = 0;
for (const { path, text } of await bundlePage()) {
  const { length } = Bun.gzipSync(new TextEncoder().encode(text), { level: 9 });
  if (/\.(js|css)$/.test(path)) total += length;
  console.log(`${String(length).padStart(8)}  ${path}`);
}
console.log(`${String(total).padStart(8)}  total of scripts and styles\n`);

const service = await startService();
const owner = newOwner();
await insertPlants(
  service,
  owner,
  Array.from({ length: PLANTS }, (_, i) => ({ id: BigInt(i), name: `Plant ${i}` })),
);
const token = await service.token({ owner });
const browser = await launchBrowser();

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] as number;
const column = (value: number) => `${value.toFixed(0).padStart(8)}`;

/** Loads the page once; returns milliseconds to the first contentful paint and to the first plants. */
async function load(browser: Browser): Promise<[paintMs: number, plantsMs: number]> {
  const page = await browser.newPage();
  await page.goto(`${service.url}/#token=${token}`);
  await page.locator("tbody tr[id]").first().waitFor();
  const times = await page.evaluate((): [number, number] => {
    const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN;
    return [paint, performance.now()];
  });
  await page.close();
  return times;
}

await load(browser);
const loads: [number, number][] = [];
for (let i = 0; i < LOADS; i++) loads.push(await load(browser));
console.log(`Load time in ms, median and maximum of ${LOADS} loads:`);
for (const [name, index] of [
  ["first contentful paint", 0],
  ["first plants shown", 1],
] as const) {
  const times = loads.map((each) => each[index]);
  console.log(`${column(median(times))}${column(Math.max(...times))}  ${name}`);
}

/** Returns the duration of each frame in milliseconds, while every frame scrolls by more than a viewport. */
const measureFrames = (page: Page) =>
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
const frames = await measureFrames(page);
console.log(`\nFrame time in ms, scrolling through ${PLANTS.toLocaleString("en")} plants, median and maximum:`);
console.log(`${column(median(frames))}${column(Math.max(...frames))}`);
await browser.close();
await service.stop();
