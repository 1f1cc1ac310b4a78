import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { DISPLAYS, type Display, useBrowser } from "../support/browser-tests.ts";
import { insertPlants, newOwner, type Service, startService } from "../support/service.ts";

const browser = useBrowser();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Opens the overview of an owner with the given number of plants per tag; `""` stands for plants without a tag. */
async function openOverview(display: Display, counts: Record<string, number>) {
  const owner = newOwner();
  const tags = Object.entries(counts).flatMap(([tag, count]) => Array.from({ length: count }, () => tag));
  const plants = tags.map((tag, id) => ({ id: BigInt(id), name: "x", ...(tag === "" ? {} : { tag }) }));
  await insertPlants(service, owner, plants);
  const page = await browser.open(display);
  await page.goto(`${service.url}/?view=overview#token=${await service.token({ owner })}`);
  return page;
}

const table = (page: Page) => page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.textContent));
const statistics = (page: Page) =>
  page.locator(".statistics > div").evaluateAll((all) => all.map((each) => each.textContent));
/** Returns the width of each tag's bar, as a rounded percentage of the first one's. */
const barWidths = (page: Page) =>
  page.locator(".share").evaluateAll((bars) => {
    const widths = bars.map((bar) => bar.getBoundingClientRect().width);
    return widths.map((width) => Math.round((100 * width) / (widths[0] ?? 0)));
  });

describe.each(DISPLAYS)("the overview on %s", (_, display: Display) => {
  it("counts all plants by tag, and draws a bar for each", async () => {
    const page = await openOverview(display, { vine: 4_000, tree: 2_000, annual: 9, "": 1 });
    await page.getByRole("cell", { name: "no tag" }).waitFor();
    expect(await statistics(page)).toEqual(["6,010plants", "3tags", "1no tag"]);
    expect(await table(page)).toEqual(["vine4,00066.6", "tree2,00033.3", "annual90.1", "no tag10"]);
    expect((await barWidths(page)).slice(0, 2)).toEqual([100, 50]);
    await page.getByRole("link", { name: "annual" }).click();
    await page.getByText("9 plants").waitFor();
    expect(page.url()).toBe(`${service.url}/?tag=annual`);
    await page.goBack();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("shows the most frequent of many tags, and the sum of the others", async () => {
    const page = await openOverview(
      display,
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`tag ${i}`, i < 3 ? 9 : 1])),
    );
    await page.getByRole("cell", { name: "50 others" }).waitFor();
    expect((await table(page)).length).toBe(101);
    expect(await statistics(page)).toEqual(["174plants", "150tags", "0no tag"]);
    expect((await barWidths(page)).slice(0, 4)).toEqual([100, 100, 100, 11]);
  });

  it("shows an error when counting fails, and counts again on refresh", async () => {
    const page = await openOverview(display, { vine: 2 });
    await page.getByRole("link", { name: "vine" }).waitFor();
    await page.route("**/plants?*", (route) => route.fulfill({ status: 400, json: { error: 40006, message: "no" } }));
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("could not be counted").waitFor();
    await page.unroute("**/plants?*");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("link", { name: "vine" }).waitFor();
    expect(await page.getByText("could not be counted").count()).toBe(0);
  });
});
