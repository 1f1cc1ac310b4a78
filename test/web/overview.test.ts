import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { EACH_LOOK, type Look, useVisitors } from "../support/browser-tests.ts";
import { newOwner, plantAll, type Service, startService } from "../support/service.ts";

const visitors = useVisitors();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A visitor to an owner who has so many plants of each tag; those of `""` have none. */
async function visit(look: Look, counts: Record<string, number>) {
  const owner = newOwner();
  const tags = Object.entries(counts).flatMap(([tag, count]) => Array.from({ length: count }, () => tag));
  const plants = tags.map((tag, id) => ({ id: BigInt(id), name: "x", ...(tag === "" ? {} : { tag }) }));
  await plantAll(service, owner, plants);
  const page = await visitors.open(look);
  await page.goto(`${service.url}/?view=overview#token=${await service.token({ owner })}`);
  return page;
}

const table = (page: Page) => page.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.textContent));
const figures = (page: Page) =>
  page.locator(".figures > div").evaluateAll((all) => all.map((each) => each.textContent));
/** Whether something is drawn. */
const isDrawn = (page: Page) =>
  page.waitForFunction(() => {
    const canvas = document.querySelector("canvas");
    const pixels = canvas?.width ? canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data : [];
    return pixels?.some((value) => value > 0);
  });

describe.each(EACH_LOOK)("the overview on %s", (_, look: Look) => {
  it("counts all plants, page by page, and draws them by tag", async () => {
    const page = await visit(look, { vine: 4_000, tree: 2_000, annual: 9, "": 1 });
    await page.getByRole("cell", { name: "no tag" }).waitFor();
    expect(await figures(page)).toEqual(["6,010plants", "3tags", "1no tag"]);
    expect(await table(page)).toEqual(["vine4,00066.6", "tree2,00033.3", "annual90.1", "no tag10"]);
    await isDrawn(page);
    await page.getByRole("link", { name: "annual" }).click();
    await page.getByText("9 plants").waitFor();
    expect(page.url()).toBe(`${service.url}/?tag=annual`);
    await page.goBack();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("draws the most frequent of very many tags, and sums the others up", async () => {
    const page = await visit(
      look,
      Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`tag ${i}`, i < 3 ? 9 : 1])),
    );
    await page.getByRole("cell", { name: "50 others" }).waitFor();
    expect((await table(page)).length).toBe(101);
    expect(await figures(page)).toEqual(["174plants", "150tags", "0no tag"]);
    await isDrawn(page);
  });

  it("says that it could not count, and counts again", async () => {
    const page = await visit(look, { vine: 2 });
    await page.getByRole("link", { name: "vine" }).waitFor();
    await page.route("**/plants?*", (route) => route.fulfill({ status: 400, json: { error: 40006, message: "no" } }));
    await page.getByRole("button", { name: "Count again" }).click();
    await page.getByText("could not be counted").waitFor();
    await page.unroute("**/plants?*");
    await page.getByRole("button", { name: "Count again" }).click();
    await page.getByRole("link", { name: "vine" }).waitFor();
    expect(await page.getByText("could not be counted").count()).toBe(0);
  });
});
