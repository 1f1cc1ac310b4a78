import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { DISPLAYS, type Display, expectAccessible, useBrowser } from "../support/browser-tests.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const browser = useBrowser();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const ID = "9223372036854775807";

describe.each(DISPLAYS)("the API reference on %s", (_, display: Display) => {
  it("sends requests with exact ids, and shares the entered token with the page", async () => {
    const owner = newOwner();
    const token = await service.token({ owner });
    const page = await browser.open(display);
    await page.goto(`${service.url}/docs`);
    await page.getByRole("button", { name: "Authorize" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox").fill(token);
    await dialog.getByRole("button", { name: "Authorize" }).click();
    await dialog.getByRole("button", { name: "Close" }).last().click();

    const create = page.locator("#operations-plants-createPlant");
    await create.getByRole("button", { name: "/plants" }).first().click();
    await create.getByRole("button", { name: "Try it out" }).click();
    await create.getByLabel("Request body").fill(`{"id": ${ID}, "name": "Clarkia"}`);
    await create.getByRole("button", { name: "Execute" }).click();
    await create.locator(".live-responses-table").getByText('"name": "Clarkia"').waitFor();
    expect(await service.storage.selectPlants(owner, { limit: 2 })).toEqual([{ id: BigInt(ID), name: "Clarkia" }]);

    await page.goto(`${service.url}/`);
    await page.getByText(ID).waitFor();
    await page.goto(`${service.url}/docs`);
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Logout" }).click();
    await page.goto(`${service.url}/`);
    await page.getByLabel("Your token").waitFor();
  });

  it("shows the exact bounds of ids, and uses the token of the page", async () => {
    const owner = newOwner();
    await service.storage.insertPlant(owner, { id: BigInt(ID), name: "Clarkia" }, undefined);
    const page = await browser.open(display);
    await page.goto(`${service.url}/#token=${await service.token({ owner })}`);
    await page.getByText(ID).waitFor();
    await page.goto(`${service.url}/docs`);
    const remove = page.locator("#operations-plants-deletePlant");
    await remove.getByRole("button", { name: "/plants" }).first().click();
    await remove.getByText(`≤ ${ID}`).or(remove.getByText(ID)).first().waitFor();
    await remove.getByRole("button", { name: "Try it out" }).click();
    await remove.getByPlaceholder("id", { exact: true }).fill(ID);
    await remove.getByRole("button", { name: "Execute" }).click();
    await remove.locator(".live-responses-table").getByText("204").first().waitFor();
    expect(await service.storage.selectPlants(owner, { limit: 2 })).toEqual([]);
  });
});

describe("the API reference", () => {
  it("is accessible when collapsed, with a dialog, and with a response", async () => {
    const page = await browser.open();
    await page.goto(`${service.url}/docs`);
    await page.locator(".opblock").first().waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Authorize" }).click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    const create = page.locator("#operations-plants-createPlant");
    await create.getByRole("button", { name: "/plants" }).first().click();
    await create.getByRole("button", { name: "Try it out" }).click();
    await create.getByRole("button", { name: "Execute" }).click();
    await create.locator(".live-responses-table").waitFor();
    await expectAccessible(page);
  });
});
