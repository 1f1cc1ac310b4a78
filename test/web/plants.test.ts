import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { PlantStoreClient } from "../../src/client/index.ts";
import type { NewPlant } from "../../src/domain/plant.ts";
import { EACH_LOOK, type Look, useVisitors } from "../support/browser-tests.ts";
import { newOwner, plantAll, type Service, startService } from "../support/service.ts";

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);
const visitors = useVisitors();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A visitor to an owner's plants, and the owner's client. */
async function visit(plants: readonly NewPlant[], look: Look, query = "/") {
  const owner = newOwner();
  await plantAll(service, owner, plants);
  const token = await service.token({ owner });
  const page = await visitors.open(look);
  await page.goto(`${service.url}${query}#token=${token}`);
  await page.getByRole("heading", { name: "Plants", exact: true }).waitFor();
  const client = new PlantStoreClient({ url: service.url, token });
  const stored = async () => (await Array.fromAsync(client.listPlants())).map(({ id, name, tag }) => [id, name, tag]);
  return { page, client, stored, owner };
}

const plant = (id: number | bigint, name: string, tag?: string): NewPlant =>
  tag === undefined ? { id: BigInt(id), name } : { id: BigInt(id), name, tag };
const GARDEN = [
  plant(INT64_MIN, "Acer rubrum", "tree"),
  plant(7, "Clarkia", "annual"),
  plant(8, "Vitis californica", "vine"),
  plant(2n ** 53n + 1n, "Marah fabacea", "vine"),
  plant(INT64_MAX, "Untagged"),
];
const many = (count: number) => Array.from({ length: count }, (_, i) => plant(i + 1, `Plant ${i + 1}`, `tag ${i % 3}`));

const rows = (page: Page) => page.locator("tbody tr[id]");
const texts = (page: Page, cell: string) => page.locator(`tbody .${cell}`).allInnerTexts();
const says = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

describe.each(EACH_LOOK)("the plants on %s", (_, look: Look) => {
  it("are listed in the order of their ids, exact to the last digit", async () => {
    const { page } = await visit(GARDEN, look);
    await says(page, "5 plants");
    expect(await texts(page, "id")).toEqual(GARDEN.map(({ id }) => String(id)));
    expect(await texts(page, "name")).toEqual(GARDEN.map(({ name }) => name));
    expect(await texts(page, "kind")).toEqual(["tree", "annual", "vine", "vine", ""]);
  });

  it("are filtered by tag through the API, by pressing a tag or typing one, and the address keeps it", async () => {
    const { page } = await visit([...GARDEN, plant(9, "Strange", ""), plant(10, "Odd", "a&b=c#ü")], look);
    await rows(page).first().waitFor();
    await page.getByRole("button", { name: "vine", exact: true }).first().click();
    await says(page, "2 plants");
    expect(page.url()).toBe(`${service.url}/?tag=vine`);
    await page.reload();
    await says(page, "2 plants");
    expect(await texts(page, "name")).toEqual(["Vitis californica", "Marah fabacea"]);
    await page.getByLabel("Tag", { exact: true }).fill("a&b=c#ü");
    await page.keyboard.press("Enter");
    await says(page, "1 plant");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Tag");
    expect(await texts(page, "name")).toEqual(["Odd"]);
    await page.goBack();
    await says(page, "2 plants");
    await page.getByRole("link", { name: "show all tags" }).click();
    await says(page, "7 plants");
    await page.getByRole("button", { name: "empty tag" }).click();
    await says(page, "1 plant");
    expect(await texts(page, "name")).toEqual(["Strange"]);
    expect(page.url()).toBe(`${service.url}/?tag=`);
  });

  it("are found by name among those that are loaded, and the page says how many those are", async () => {
    const { page } = await visit(many(3_500), look);
    await says(page, "loaded so far");
    const find = page.getByLabel("Find by name");
    await find.fill("PLANT 35");
    await says(page, "11 found among the 1,000 loaded so far");
    expect(page.url()).toBe(`${service.url}/?find=PLANT+35`);
    await press(page, "Load all");
    await says(page, "12 found among 3,500 plants");
    await find.fill("nothing like it");
    await says(page, "No such name");
    await find.fill("");
    await says(page, "3,500 plants");
  });

  it("are loaded as one scrolls, while only those in sight are in the document", async () => {
    const { page } = await visit(many(5_000), look);
    await rows(page).first().waitFor();
    const grid = page.getByRole("grid");
    await grid.focus();
    await page.keyboard.press("End");
    await says(page, "2,000 loaded so far");
    await press(page, "Load all");
    await says(page, "5,000 plants");
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

  it("are added under a free id that is proposed, once, however often the button is pressed", async () => {
    const { page, stored } = await visit(GARDEN.slice(0, 3), look);
    await says(page, "3 plants");
    await press(page, "Add plant");
    await page.waitForFunction(() => (document.getElementById("new-id") as HTMLInputElement).value !== "");
    expect(await page.locator("#new-id").inputValue()).toBe("9");
    await page.getByLabel("Name", { exact: true }).fill("Salvia 🌱");
    await page.getByLabel("Tag, if wanted").fill("shrub");
    let sent = 0;
    page.on("request", (request) => {
      if (request.method() === "POST") sent++;
    });
    const button = page.getByRole("button", { name: "Add", exact: true });
    await button.dblclick({ noWaitAfter: true });
    await says(page, "added");
    expect(sent).toBe(1);
    expect((await stored()).at(-1)).toEqual([9n, "Salvia 🌱", "shrub"]);
    expect(await texts(page, "name")).toEqual(["Acer rubrum", "Clarkia", "Vitis californica", "Salvia 🌱"]);
  });

  it("are added under the id that is typed, also when one is proposed just then", async () => {
    const { page } = await visit([], look);
    const { promise: isTyping, resolve: letPropose } = Promise.withResolvers<void>();
    await page.route("**/plants?*limit=1*", async (route) => {
      await isTyping;
      return route.continue();
    });
    await press(page, "Add plant");
    const id = page.getByLabel("Id", { exact: true });
    await id.focus();
    letPropose();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>("#new-id")?.value === "1");
    await page.keyboard.type("5");
    expect(await id.inputValue()).toBe("5");
  });

  it.each([1, 4])("are added once, even if the answers to the first %d attempts are lost", async (lost) => {
    const { page, stored } = await visit([], look);
    let sent = 0;
    await page.route("**/plants", async (route) => {
      if (route.request().method() !== "POST" || ++sent > lost) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await press(page, "Add plant");
    await page.getByLabel("Id", { exact: true }).fill("5");
    await page.getByLabel("Name", { exact: true }).fill("Clarkia");
    await press(page, "Add");
    if (lost === 4) {
      await says(page, "The server does not answer.");
      await press(page, "Add");
    }
    await says(page, "added");
    expect(sent).toBe(lost + 1);
    expect(await stored()).toEqual([[5n, "Clarkia", undefined]]);
  });

  it("are refused with the words of the API beside the field that they name", async () => {
    const { page, stored } = await visit(GARDEN, look);
    await says(page, "5 plants");
    await press(page, "Add plant");
    const fault = (field: string) => page.locator(`#new-${field}-fault`).textContent();
    await page.getByLabel("Id", { exact: true }).fill("9223372036854775808");
    await page.getByLabel("Tag, if wanted").fill("t".repeat(256));
    await press(page, "Add");
    await says(page, "id must be an integer");
    expect(await fault("name")).toContain("name must be a string of 1 to 1024 characters");
    expect(await fault("tag")).toContain("tag must be a string of 0 to 255 characters");
    await page.waitForFunction(() => document.activeElement?.id === "new-name");
    await page.getByLabel("Name", { exact: true }).fill("Again");
    await page.getByLabel("Tag, if wanted").fill("");
    await page.getByLabel("Id", { exact: true }).fill(String(INT64_MAX));
    await press(page, "Add");
    await says(page, `id ${INT64_MAX} is already in use`);
    expect([await fault("name"), await fault("tag")]).toEqual(["", ""]);
    await page.keyboard.press("Escape");
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe("Add plant");
    expect((await stored()).length).toBe(5);
  });

  it("are deleted, and brought back under the same id, name and tag", async () => {
    const { page, stored } = await visit(GARDEN, look);
    await rows(page).first().waitFor();
    const before = await stored();
    for (const { name } of [GARDEN[3], GARDEN[4]] as NewPlant[]) {
      await page.getByLabel(`Delete ${name}`).click();
      await page.getByLabel(`Delete ${name}`).waitFor({ state: "detached" });
    }
    await says(page, "2 plants deleted");
    expect(await stored()).toEqual(before.slice(0, 3));
    await press(page, "Undo");
    await says(page, "2 plants restored");
    expect(await stored()).toEqual(before);
    expect(await texts(page, "id")).toEqual(GARDEN.map(({ id }) => String(id)));
  });

  it("are deleted several at once, by ticking them, with the keyboard alone", async () => {
    const { page, stored } = await visit(GARDEN, look);
    await rows(page).first().waitFor();
    await page.getByRole("grid").focus();
    for (const key of ["Space", "ArrowDown", "ArrowDown", "Space"]) await page.keyboard.press(key);
    await says(page, "2 selected");
    await page.keyboard.press("Delete");
    await says(page, "2 plants deleted");
    expect((await stored()).map(([, name]) => name)).toEqual(["Clarkia", "Marah fabacea", "Untagged"]);
    await page.keyboard.press("ControlOrMeta+z");
    await says(page, "2 plants restored");
    await page.getByLabel("Select Clarkia").check();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await says(page, "2 selected");
    expect(await page.getByLabel("Select Vitis californica").isChecked()).toBe(true);
    await page.keyboard.press("ControlOrMeta+a");
    await says(page, "5 selected");
    await page.keyboard.press("Escape");
    expect(await page.getByText("selected").count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Vitis californica").waitFor();
    expect((await stored()).length).toBe(5);
  });

  it("are told when some cannot be deleted; those that were can still be brought back", async () => {
    const { page, stored } = await visit(GARDEN, look);
    await rows(page).first().waitFor();
    await page.route("**/plants/7", (route) => route.abort());
    await page.getByRole("grid").focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Delete");
    await says(page, "1 plant not deleted. The server does not answer.");
    expect((await stored()).map(([id]) => id)).toEqual([7n]);
    expect(await texts(page, "name")).toEqual(["Clarkia"]);
    await press(page, "Undo");
    await says(page, "4 plants restored");
    expect((await stored()).length).toBe(5);
  });

  it("of others come and go: a plant that is gone already, and an id that somebody took meanwhile", async () => {
    const { page, client, stored } = await visit(GARDEN.slice(0, 3), look);
    await rows(page).first().waitFor();
    await client.deletePlant(7n);
    await page.getByLabel("Delete Clarkia").click();
    await page.getByLabel("Delete Clarkia").waitFor({ state: "detached" });
    await page.getByLabel("Delete Vitis californica").click();
    await says(page, /Vitis californica\s+deleted/);
    await client.createPlant(plant(8, "Taken"));
    await press(page, "Undo");
    await says(page, "1 plant not restored. id 8 is already in use");
    await press(page, "Load again");
    await page.getByText("Taken").waitFor();
    expect((await stored()).map(([, name]) => name)).toEqual(["Acer rubrum", "Taken"]);
  });

  it("are shown again after the network failed", async () => {
    const { page } = await visit(many(1_500), look);
    await says(page, "loaded so far");
    await page.route("**/plants?*", (route) => route.abort());
    await press(page, "Load more");
    await says(page, "The next plants could not be loaded");
    await page.unroute("**/plants?*");
    await press(page, "Try again");
    await says(page, "1,500 plants");
    await page.context().setOffline(true);
    await says(page, "You are offline");
    await press(page, "Load again");
    await says(page, "The plants could not be loaded");
    await page.context().setOffline(false);
    await press(page, "Try again");
    await says(page, "1,000 loaded so far");
    expect(await page.getByText("You are offline").count()).toBe(0);
  });
});
