import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from "bun:test";
import type { Page } from "playwright-core";
import { DISPLAYS, type Display, useBrowser } from "../support/browser-tests.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const browser = useBrowser();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(() => {
  mock.restore();
});

/** Returns an owner with one plant, Clarkia. */
async function newOwnerWithPlant(): Promise<string> {
  const owner = newOwner();
  await service.storage.insertPlant(owner, { id: 1n, name: "Clarkia", tag: "annual" }, undefined);
  return owner;
}

const heading = (page: Page) => page.getByRole("heading", { name: "Plants", exact: true });
const tokenField = (page: Page) => page.getByLabel("Your token");
const storage = (page: Page) => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));

describe.each(DISPLAYS)("signing in on %s", (_, display: Display) => {
  it("accepts a pasted token, keeps it for the tab, and removes it on sign-out", async () => {
    const token = await service.token({ owner: await newOwnerWithPlant() });
    const page = await browser.open(display);
    await page.goto(`${service.url}/?tag=annual`);
    await tokenField(page).fill(`  ${token}\n`);
    await page.keyboard.press("Enter");
    await page.getByText("Clarkia").waitFor();
    expect(page.url()).toBe(`${service.url}/?tag=annual`);
    await page.reload();
    await page.getByText("Clarkia").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await tokenField(page).waitFor();
    expect(await storage(page)).toBe("[{},{}]");
    await page.reload();
    await tokenField(page).waitFor();
    expect(await page.content()).not.toContain(token);
  });

  it("removes the token of a sign-in link from the URL before any response arrives", async () => {
    const token = await service.token({ owner: await newOwnerWithPlant() });
    const page = await browser.open(display);
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/plants*", async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.goto(`${service.url}/?tag=annual#token=${token}`);
    await page.getByText("Signing in…").waitFor();
    expect(page.url()).toBe(`${service.url}/?tag=annual`);
    expect(await page.evaluate(() => history.length)).toBe(2);
    release();
    await page.getByText("Clarkia").waitFor();
  });

  it("rejects an invalid or expired token, and accepts another one", async () => {
    const page = await browser.open(display);
    await page.goto(service.url);
    const expired = await service.token({ expiresAt: Date.now() - 1 });
    for (const [text, reason] of [
      ["", "This is not a token"],
      ["plt_é", "This is not a token"],
      [`plt_${"0".repeat(36)}`, "mistyped"],
      [expired, "expired"],
    ] as const) {
      await tokenField(page).fill(text);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").filter({ hasText: reason }).waitFor();
      expect(await tokenField(page).getAttribute("aria-invalid")).toBe("true");
      expect(await storage(page)).toBe("[{},{}]");
    }
    await tokenField(page).fill(await service.token());
    await page.getByRole("button", { name: "Sign in" }).click();
    await heading(page).waitFor();
  });

  it("signs out with a message when the token becomes invalid", async () => {
    const token = await service.token({ owner: await newOwnerWithPlant() });
    const page = await browser.open(display);
    await page.goto(`${service.url}/#token=${token}`);
    await page.getByText("Clarkia").waitFor();
    spyOn(service.tokens, "authenticate").mockReturnValue(undefined);
    await page.getByRole("button", { name: "Refresh" }).click({ noWaitAfter: true });
    await page.getByRole("alert").filter({ hasText: "no longer works" }).waitFor();
    expect(await storage(page)).toBe("[{},{}]");
  });

  it("does not let another owner undo the previous owner's deletion", async () => {
    const page = await browser.open(display);
    await page.goto(`${service.url}/#token=${await service.token({ owner: await newOwnerWithPlant() })}`);
    await page.getByLabel("Delete Clarkia").click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    const other = newOwner();
    const token = await service.token({ owner: other });
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#token=${token}`);
    await page.getByText("No plants yet").waitFor();
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    await page.keyboard.press("ControlOrMeta+z");
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByText("No plants yet").waitFor();
    expect(await service.storage.selectPlants(other, { limit: 5 })).toEqual([]);
  });

  it("hides editing from a read-only token", async () => {
    const token = await service.token({ owner: await newOwnerWithPlant(), scopes: ["plants:read"] });
    const page = await browser.open(display);
    await page.goto(`${service.url}/#token=${token}`);
    await page.getByText("Clarkia").waitFor();
    await page.getByText("Read-only").waitFor();
    expect(await page.getByRole("button", { name: /Add|Delete/ }).count()).toBe(0);
    expect(await page.getByRole("checkbox").count()).toBe(0);
    expect(await page.getByRole("link", { name: "Import" }).count()).toBe(0);
    await page.getByRole("grid").focus();
    for (const key of ["Space", "Delete", "ControlOrMeta+a"]) await page.keyboard.press(key);
    expect(await page.getByText(/selected|deleted/).count()).toBe(0);
    await page.getByRole("button", { name: "Clarkia" }).click();
    expect(await page.getByRole("dialog").getByRole("button").count()).toBe(1);
    await page.goto(`${service.url}/?view=import`);
    await heading(page).waitFor();
    await page.goto(`${service.url}/?view=overview`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  it("lets a write-only token add plants, and explains why none are listed", async () => {
    const owner = newOwner();
    const page = await browser.open(display);
    await page.goto(`${service.url}/?view=overview#token=${await service.token({ owner, scopes: ["plants:write"] })}`);
    await page.getByText("cannot read plants").waitFor();
    await page.getByRole("button", { name: "Add plant" }).click();
    await page.getByLabel("Name").fill("Clarkia");
    await page.locator("#new-id:not([value=''])").waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("added").waitFor();
    expect(await service.storage.selectPlants(owner, { limit: 5 })).toMatchObject([{ name: "Clarkia" }]);
  });

  it("switches to the token of a sign-in link opened in a signed-in tab", async () => {
    const page = await browser.open(display);
    await page.goto(`${service.url}/#token=${await service.token()}`);
    await page.getByText("No plants yet").waitFor();
    const token = await service.token({ owner: await newOwnerWithPlant() });
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#token=${token}`);
    await page.getByText("Clarkia").waitFor();
    expect(page.url()).not.toContain(token);
    await page.evaluate(() => {
      location.hash = "#token=plt_mistyped";
    });
    await page.getByText("This is not a token").waitFor();
    expect(await page.getByText("Clarkia").count()).toBe(0);
  });

  it("shows that the server is not responding, and signs in once it responds", async () => {
    const page = await browser.open(display);
    await page.goto(service.url);
    await page.route("**/plants*", (route) => route.abort());
    await tokenField(page).fill(await service.token({ owner: await newOwnerWithPlant() }));
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "is not responding" }).waitFor();
    await page.unroute("**/plants*");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Clarkia").waitFor();
  });

  it("does not run in a browser that cannot represent ids exactly", async () => {
    const page = await browser.open(display);
    await page.addInitScript(() => Reflect.deleteProperty(JSON, "rawJSON"));
    await page.goto(`${service.url}/#token=${await service.token({ owner: await newOwnerWithPlant() })}`);
    await page.getByText("This browser is too old").waitFor();
    expect(await page.getByText("Clarkia").count()).toBe(0);
  });
});
