import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { DISPLAYS, type Display, expectAccessible, useBrowser } from "../support/browser-tests.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const browser = useBrowser();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const ID = "9223372036854775807";

const signIn = async (page: Page, token: string) => {
  await page.getByRole("button", { name: "Sign in" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Your token").fill(token);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
};

/** Sends the form of an operation; returns the status line and the body of the response. */
async function send(page: Page, operation: string): Promise<[status: string, body: string]> {
  const form = page.getByRole("form", { name: `Try it: ${operation}` });
  await form.getByRole("button", { name: "Send" }).click();
  const response = form.getByRole("region", { name: "Response" });
  const status = (await response.getByRole("status").textContent()) ?? "";
  const body = response.getByRole("figure", { name: "Response body" }).locator("pre");
  return [status.replace(/ \d+ ms$/, ""), (await body.count()) > 0 ? ((await body.textContent()) ?? "") : ""];
}

describe.each(DISPLAYS)("the API reference on %s", (_, display: Display) => {
  it("sends requests with exact ids, and shares the entered token with the page", async () => {
    const owner = newOwner();
    const page = await browser.open(display);
    await page.goto(`${service.url}/docs`);
    await signIn(page, await service.token({ owner }));
    await page.getByLabel("Request body").fill(`{"id": ${ID}, "name": "Clarkia"}`);
    expect(await send(page, "Create a plant")).toEqual(["200 OK", '{"name":"Clarkia"}']);
    expect(await service.storage.selectPlants(owner, { limit: 2 })).toEqual([{ id: BigInt(ID), name: "Clarkia" }]);
    await page.getByLabel("fields").fill("id,name");
    expect(await send(page, "List plants")).toEqual(["200 OK", `[{"id":${ID},"name":"Clarkia"}]`]);

    await page.goto(`${service.url}/`);
    await page.getByText(ID).waitFor();
    await page.goto(`${service.url}/docs`);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).first().waitFor();
    await page.goto(`${service.url}/`);
    await page.getByLabel("Your token").waitFor();
  });

  it("shows the exact bounds of ids, and uses the token of the page", async () => {
    const owner = newOwner();
    await service.storage.insertPlant(owner, { id: BigInt(ID), name: "Clarkia" }, undefined);
    const page = await browser.open(display);
    await page.goto(`${service.url}/#token=${await service.token({ owner })}`);
    await page.getByText(ID).waitFor();
    await page.getByRole("link", { name: "API" }).click();
    await page.getByRole("region", { name: "Delete a plant" }).getByText(`maximum: ${ID}`).waitFor();
    await page.getByRole("form", { name: "Delete a plant" }).getByLabel("id", { exact: true }).fill(ID);
    expect(await send(page, "Delete a plant")).toEqual(["204 No Content", ""]);
    expect(await service.storage.selectPlants(owner, { limit: 2 })).toEqual([]);
  });
});

describe("the API reference", () => {
  it("documents each operation and schema, with an anchor for each", async () => {
    const page = await browser.open();
    await page.goto(`${service.url}/docs#deletePlant`);
    const operation = page.locator("#deletePlant");
    await operation.getByText("plant not found").first().waitFor();
    expect(Math.abs((await operation.boundingBox())?.y ?? Number.NaN)).toBeLessThan(50);
    const links = await page.locator("a[href^='#']").evaluateAll((all) => all.map((each) => each.getAttribute("href")));
    expect(new Set(links)).toEqual(
      new Set(
        ["listPlants", "createPlant", "deletePlant", "NewPlant", "Plant", "ListedPlant", "Error"].map((id) => `#${id}`),
      ),
    );
    for (const link of links) expect(await page.locator(link as string).count()).toBe(1);
    for (const number of ["40400", "40101", "50300"]) await operation.getByText(number).first().waitFor();
  });

  it("shows the request as a curl command, quoted for a shell, without the token", async () => {
    const page = await browser.open();
    const token = await service.token();
    await page.goto(`${service.url}/docs#token=${token}`);
    const form = page.getByRole("form", { name: "Create a plant" });
    await form.getByLabel("Idempotency-Key").fill("key 1");
    await form.getByLabel("Request body").fill(`{"id": 1, "name": "d'Anjou $HOME"}`);
    const command = form.getByRole("figure", { name: "curl" }).locator("pre");
    expect(await command.textContent()).toBe(
      `curl -i -X POST '${service.url}/plants' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Idempotency-Key: key 1' \\
  -H 'Content-Type: application/json' \\
  --data-raw '{"id": 1, "name": "d'\\''Anjou $HOME"}'`,
    );
    const list = page.getByRole("form", { name: "List plants" });
    await list.getByLabel("tag").fill("a&b c");
    await list.getByLabel("fields").fill("id,name");
    await list.getByText("/plants?tag=a%26b%20c&fields=id,name'").waitFor();
  });

  it("fills in an example of the body, and no parameters", async () => {
    const page = await browser.open();
    await page.goto(`${service.url}/docs`);
    const form = page.getByRole("form", { name: "Create a plant" });
    expect(JSON.parse(await form.getByLabel("Request body").inputValue())).toHaveProperty("id");
    await page.getByRole("figure", { name: "Example: largestId" }).getByText(`"id": ${ID}`).waitFor();
    const values = await page
      .locator("form input")
      .evaluateAll((all) => all.map((each) => (each as HTMLInputElement).value));
    expect(new Set(values)).toEqual(new Set([""]));
  });

  it("is accessible signed out, with a dialog, and with a response", async () => {
    const page = await browser.open();
    await page.goto(`${service.url}/docs`);
    await page.getByRole("form", { name: "Create a plant" }).waitFor();
    await page.locator("#createPlant details").evaluateAll((all) => {
      for (const each of all) each.setAttribute("open", "");
    });
    await expectAccessible(page);
    expect((await send(page, "Create a plant"))[0]).toBe("401 Unauthorized");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in" }).first().click();
    await page.getByRole("dialog").waitFor();
    await expectAccessible(page);
  });

  it("shows an error when the API description cannot be loaded, and when a request fails", async () => {
    const page = await browser.open();
    await page.route("**/openapi.json", (route) => route.abort());
    await page.goto(`${service.url}/docs`);
    await page.getByText("could not be loaded").waitFor();
    await page.unroute("**/openapi.json");
    await page.reload();
    await page.route("**/plants", (route) => route.abort());
    await page.getByRole("form", { name: "List plants" }).getByRole("button", { name: "Send" }).click();
    await page.getByText("Failed to fetch").waitFor();
  });
});
