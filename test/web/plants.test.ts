import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { PlantStoreClient } from "../../src/client/index.ts";
import type { Plant } from "../../src/domain/plant.ts";
import { DISPLAYS, type Display, useBrowser } from "../support/browser-tests.ts";
import { insertPlants, newOwner, type Service, startService } from "../support/service.ts";

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const browser = useBrowser();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Opens the plants view of a new owner with the given plants; also returns a client of the owner. */
async function openPlants(plants: readonly Plant[], display: Display, query = "/") {
  const owner = newOwner();
  await insertPlants(service, owner, plants);
  const token = await service.token({ owner });
  const page = await browser.open(display);
  await page.goto(`${service.url}${query}#token=${token}`);
  await page.getByRole("heading", { name: "Plants", exact: true }).waitFor();
  const client = new PlantStoreClient({ url: service.url, token });
  const stored = async () => (await Array.fromAsync(client.listPlants())).map(({ id, name, tag }) => [id, name, tag]);
  return { page, client, stored, owner };
}

const plant = (id: number | bigint, name: string, tag?: string): Plant =>
  tag === undefined ? { id: BigInt(id), name } : { id: BigInt(id), name, tag };
const PLANTS = [
  plant(INT64_MIN, "Acer rubrum", "tree"),
  plant(7, "Clarkia", "annual"),
  plant(8, "Vitis californica", "vine"),
  plant(2n ** 53n + 1n, "Marah fabacea", "vine"),
  plant(INT64_MAX, "Untagged"),
];
const many = (count: number) => Array.from({ length: count }, (_, i) => plant(i + 1, `Plant ${i + 1}`, `tag ${i % 3}`));

const rows = (page: Page) => page.locator("tbody tr[id]");
const texts = (page: Page, cell: string) => page.locator(`tbody .${cell}`).allInnerTexts();
const waitForText = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const clickButton = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

describe.each(DISPLAYS)("the plants view on %s", (_, display: Display) => {
  it("lists plants by ascending id, with exact ids", async () => {
    const { page } = await openPlants(PLANTS, display);
    await waitForText(page, "5 plants");
    expect(await texts(page, "id")).toEqual(PLANTS.map(({ id }) => String(id)));
    expect(await texts(page, "name")).toEqual(PLANTS.map(({ name }) => name));
    expect(await texts(page, "tag-cell")).toEqual(["tree", "annual", "vine", "vine", ""]);
  });

  it("filters by a clicked or typed tag, and keeps the filter in the URL", async () => {
    const { page } = await openPlants([...PLANTS, plant(9, "Strange", ""), plant(10, "Odd", "a&b=c#ü")], display);
    await rows(page).first().waitFor();
    await page.getByRole("button", { name: "vine", exact: true }).first().click();
    await waitForText(page, "2 plants");
    expect(page.url()).toBe(`${service.url}/?tag=vine`);
    await page.reload();
    await waitForText(page, "2 plants");
    expect(await texts(page, "name")).toEqual(["Vitis californica", "Marah fabacea"]);
    await page.getByLabel("Tag", { exact: true }).fill("a&b=c#ü");
    await page.keyboard.press("Enter");
    await waitForText(page, "1 plant");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Tag");
    expect(await texts(page, "name")).toEqual(["Odd"]);
    await page.goBack();
    await waitForText(page, "2 plants");
    await page.getByRole("link", { name: "show all tags" }).click();
    await waitForText(page, "7 plants");
    await page.getByRole("button", { name: "empty tag" }).click();
    await waitForText(page, "1 plant");
    expect(await texts(page, "name")).toEqual(["Strange"]);
    expect(page.url()).toBe(`${service.url}/?tag=`);
  });

  it("searches the names of the loaded plants, and shows how many are loaded", async () => {
    const { page } = await openPlants(many(3_500), display);
    await waitForText(page, "loaded so far");
    const find = page.getByLabel("Find by name");
    await find.fill("PLANT 35");
    await waitForText(page, "11 found among the 1,000 loaded so far");
    expect(page.url()).toBe(`${service.url}/?find=PLANT+35`);
    await clickButton(page, "Load all");
    await waitForText(page, "12 found among 3,500 plants");
    await find.fill("nothing like it");
    await waitForText(page, "No matching plants");
    await find.fill("");
    await waitForText(page, "3,500 plants");
  });

  it("loads plants while scrolling, and renders only the visible rows", async () => {
    const { page } = await openPlants(many(5_000), display);
    await rows(page).first().waitFor();
    const grid = page.getByRole("grid");
    await grid.focus();
    await page.keyboard.press("End");
    await waitForText(page, "2,000 loaded so far");
    await clickButton(page, "Load all");
    await waitForText(page, "5,000 plants");
    await grid.focus();
    await page.keyboard.press("End");
    await page.getByText("Plant 5000", { exact: true }).waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
    const last = page.locator("tr.active");
    expect(await last.getAttribute("aria-rowindex")).toBe("5001");
    await page.keyboard.press("Home");
    await page.getByText("Plant 1", { exact: true }).waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
  });

  it("suggests a free id, and adds a plant once when the button is clicked twice", async () => {
    const { page, stored } = await openPlants(PLANTS.slice(0, 3), display);
    await waitForText(page, "3 plants");
    await clickButton(page, "Add plant");
    await page.waitForFunction(() => (document.getElementById("new-id") as HTMLInputElement).value !== "");
    expect(await page.locator("#new-id").inputValue()).toBe("9");
    await page.getByLabel("Name", { exact: true }).fill("Salvia 🌱");
    await page.getByLabel("Tag (optional)").fill("shrub");
    let sent = 0;
    page.on("request", (request) => {
      if (request.method() === "POST") sent++;
    });
    const button = page.getByRole("button", { name: "Add", exact: true });
    await button.dblclick({ noWaitAfter: true });
    await waitForText(page, "added");
    expect(sent).toBe(1);
    expect((await stored()).at(-1)).toEqual([9n, "Salvia 🌱", "shrub"]);
    expect(await texts(page, "name")).toEqual(["Acer rubrum", "Clarkia", "Vitis californica", "Salvia 🌱"]);
  });

  it("replaces the suggested id by the typed one when the field has the focus", async () => {
    const { page } = await openPlants([], display);
    const { promise: isFocused, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/plants?*limit=1*", async (route) => {
      await isFocused;
      return route.continue();
    });
    await clickButton(page, "Add plant");
    const id = page.getByLabel("ID", { exact: true });
    await id.focus();
    release();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#new-id")?.value === "1");
    await page.keyboard.type("5");
    expect(await id.inputValue()).toBe("5");
  });

  it.each([1, 4])("adds a plant once when the first %d responses are lost", async (lost) => {
    const { page, stored } = await openPlants([], display);
    let sent = 0;
    await page.route("**/plants", async (route) => {
      if (route.request().method() !== "POST" || ++sent > lost) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await clickButton(page, "Add plant");
    await page.getByLabel("ID", { exact: true }).fill("5");
    await page.getByLabel("Name", { exact: true }).fill("Clarkia");
    await clickButton(page, "Add");
    if (lost === 4) {
      await waitForText(page, "The server is not responding.");
      await clickButton(page, "Add");
    }
    await waitForText(page, "added");
    expect(sent).toBe(lost + 1);
    expect(await stored()).toEqual([[5n, "Clarkia", undefined]]);
  });

  it("shows API errors next to the fields they name", async () => {
    const { page, stored } = await openPlants(PLANTS, display);
    await waitForText(page, "5 plants");
    await clickButton(page, "Add plant");
    const errorOf = (field: string) => page.locator(`#new-${field}-error`).textContent();
    await page.getByLabel("ID", { exact: true }).fill("9223372036854775808");
    await page.getByLabel("Tag (optional)").fill("t".repeat(256));
    await clickButton(page, "Add");
    await waitForText(page, "id must be an integer");
    expect(await errorOf("name")).toContain("name must be a string of 1 to 1024 characters");
    expect(await errorOf("tag")).toContain("tag must be a string of 0 to 255 characters");
    await page.waitForFunction(() => document.activeElement?.id === "new-name");
    await page.getByLabel("Name", { exact: true }).fill("Again");
    await page.getByLabel("Tag (optional)").fill("");
    await page.getByLabel("ID", { exact: true }).fill(String(INT64_MAX));
    await clickButton(page, "Add");
    await waitForText(page, `id ${INT64_MAX} is already in use`);
    expect([await errorOf("name"), await errorOf("tag")]).toEqual(["", ""]);
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe("Add plant");
    expect((await stored()).length).toBe(5);
  });

  it("deletes plants, and restores them with the same id, name and tag", async () => {
    const { page, stored } = await openPlants(PLANTS, display);
    await rows(page).first().waitFor();
    const before = await stored();
    for (const { name } of [PLANTS[3], PLANTS[4]] as Plant[]) {
      await page.getByLabel(`Delete ${name}`).click();
      await page.getByLabel(`Delete ${name}`).waitFor({ state: "detached" });
    }
    await waitForText(page, "2 plants deleted");
    expect(await stored()).toEqual(before.slice(0, 3));
    await clickButton(page, "Undo");
    await waitForText(page, "2 plants restored");
    expect(await stored()).toEqual(before);
    expect(await texts(page, "id")).toEqual(PLANTS.map(({ id }) => String(id)));
  });

  it("selects and deletes several plants with the keyboard", async () => {
    const { page, stored } = await openPlants(PLANTS, display);
    await rows(page).first().waitFor();
    await page.getByRole("grid").focus();
    for (const key of ["Space", "ArrowDown", "ArrowDown", "Space"]) await page.keyboard.press(key);
    await waitForText(page, "2 selected");
    await page.keyboard.press("Delete");
    await waitForText(page, "2 plants deleted");
    expect((await stored()).map(([, name]) => name)).toEqual(["Clarkia", "Marah fabacea", "Untagged"]);
    await page.keyboard.press("ControlOrMeta+z");
    await waitForText(page, "2 plants restored");
    await page.getByLabel("Select Clarkia").check();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await waitForText(page, "2 selected");
    expect(await page.getByLabel("Select Vitis californica").isChecked()).toBe(true);
    await page.keyboard.press("ControlOrMeta+a");
    await waitForText(page, "5 selected");
    await page.keyboard.press("Escape");
    expect(await page.getByText("selected").count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Vitis californica").waitFor();
    expect((await stored()).length).toBe(5);
  });

  it("reports plants that cannot be deleted, and can still restore the others", async () => {
    const { page, stored } = await openPlants(PLANTS, display);
    await rows(page).first().waitFor();
    await page.route("**/plants/7", (route) => route.abort());
    await page.getByRole("grid").focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Delete");
    await waitForText(page, "1 plant not deleted. The server is not responding.");
    expect((await stored()).map(([id]) => id)).toEqual([7n]);
    expect(await texts(page, "name")).toEqual(["Clarkia"]);
    await clickButton(page, "Undo");
    await waitForText(page, "4 plants restored");
    expect((await stored()).length).toBe(5);
  });

  it("handles concurrent changes: a plant already deleted, and an id taken before undo", async () => {
    const { page, client, stored } = await openPlants(PLANTS.slice(0, 3), display);
    await rows(page).first().waitFor();
    await client.deletePlant(7n);
    await page.getByLabel("Delete Clarkia").click();
    await page.getByLabel("Delete Clarkia").waitFor({ state: "detached" });
    await page.getByLabel("Delete Vitis californica").click();
    await waitForText(page, /Vitis californica\s+deleted/);
    await client.createPlant(plant(8, "Taken"));
    await clickButton(page, "Undo");
    await waitForText(page, "1 plant not restored. id 8 is already in use");
    await clickButton(page, "Refresh");
    await page.getByText("Taken").waitFor();
    expect((await stored()).map(([, name]) => name)).toEqual(["Acer rubrum", "Taken"]);
  });

  it("recovers after the network fails", async () => {
    const { page } = await openPlants(many(1_500), display);
    await waitForText(page, "loaded so far");
    await page.route("**/plants?*", (route) => route.abort());
    await clickButton(page, "Load more");
    await waitForText(page, "The next plants could not be loaded");
    await page.unroute("**/plants?*");
    await clickButton(page, "Try again");
    await waitForText(page, "1,500 plants");
    await page.context().setOffline(true);
    await waitForText(page, "You are offline");
    await clickButton(page, "Refresh");
    await waitForText(page, "The plants could not be loaded");
    await page.context().setOffline(false);
    await clickButton(page, "Try again");
    await waitForText(page, "1,000 loaded so far");
    expect(await page.getByText("You are offline").count()).toBe(0);
  });
});
