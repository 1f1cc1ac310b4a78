import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from "bun:test";
import type { Page } from "playwright-core";
import { EACH_LOOK, type Look, useVisitors } from "../support/browser-tests.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const visitors = useVisitors();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
afterEach(() => {
  mock.restore();
});

/** An owner with one plant, Clarkia. */
async function newGarden(): Promise<string> {
  const owner = newOwner();
  await service.storage.insertPlant(owner, { id: 1n, name: "Clarkia", tag: "annual" }, undefined);
  return owner;
}

const heading = (page: Page) => page.getByRole("heading", { name: "Plants", exact: true });
const field = (page: Page) => page.getByLabel("Your token");
const kept = (page: Page) => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));

describe.each(EACH_LOOK)("signing in on %s", (_, look: Look) => {
  it("takes a pasted token, keeps it for the tab, and forgets it when asked", async () => {
    const token = await service.token({ owner: await newGarden() });
    const page = await visitors.open(look);
    await page.goto(`${service.url}/?tag=annual`);
    await field(page).fill(`  ${token}\n`);
    await page.keyboard.press("Enter");
    await page.getByText("Clarkia").waitFor();
    expect(page.url()).toBe(`${service.url}/?tag=annual`);
    await page.reload();
    await page.getByText("Clarkia").waitFor();
    await page.getByRole("button", { name: "Forget token" }).click();
    await field(page).waitFor();
    expect(await kept(page)).toBe("[{},{}]");
    await page.reload();
    await field(page).waitFor();
    expect(await page.content()).not.toContain(token);
  });

  it("takes the token of a link out of the address at once, before any request is answered", async () => {
    const token = await service.token({ owner: await newGarden() });
    const page = await visitors.open(look);
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    await page.route("**/plants*", async (route) => {
      await mayAnswer;
      await route.continue();
    });
    await page.goto(`${service.url}/?tag=annual#token=${token}`);
    await page.getByText("Signing in…").waitFor();
    expect(page.url()).toBe(`${service.url}/?tag=annual`);
    expect(await page.evaluate(() => history.length)).toBe(2);
    answer();
    await page.getByText("Clarkia").waitFor();
  });

  it("says that a token does not work, and lets one try another", async () => {
    const page = await visitors.open(look);
    await page.goto(service.url);
    const expired = await service.token({ expiresAt: Date.now() - 1 });
    for (const [text, reason] of [
      ["", "This is no token"],
      ["plt_é", "This is no token"],
      [`plt_${"0".repeat(36)}`, "mistyped"],
      [expired, "expired"],
    ] as const) {
      await field(page).fill(text);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("alert").filter({ hasText: reason }).waitFor();
      expect(await field(page).getAttribute("aria-invalid")).toBe("true");
      expect(await kept(page)).toBe("[{},{}]");
    }
    await field(page).fill(await service.token());
    await page.getByRole("button", { name: "Sign in" }).click();
    await heading(page).waitFor();
  });

  it("says that a token has ended meanwhile, and forgets it", async () => {
    const token = await service.token({ owner: await newGarden() });
    const page = await visitors.open(look);
    await page.goto(`${service.url}/#token=${token}`);
    await page.getByText("Clarkia").waitFor();
    spyOn(service.tokens, "authenticate").mockReturnValue(undefined);
    await page.getByRole("button", { name: "Load again" }).click({ noWaitAfter: true });
    await page.getByRole("alert").filter({ hasText: "works no longer" }).waitFor();
    expect(await kept(page)).toBe("[{},{}]");
  });

  it("ends with all that was done in it: what one owner deleted, another cannot bring back", async () => {
    const page = await visitors.open(look);
    await page.goto(`${service.url}/#token=${await service.token({ owner: await newGarden() })}`);
    await page.getByLabel("Delete Clarkia").click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    const other = newOwner();
    const token = await service.token({ owner: other });
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#token=${token}`);
    await page.getByText("Nothing planted yet").waitFor();
    expect(await page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    await page.keyboard.press("ControlOrMeta+z");
    await page.getByRole("button", { name: "Load again" }).click();
    await page.getByText("Nothing planted yet").waitFor();
    expect(await service.storage.selectPlants(other, { limit: 5 })).toEqual([]);
  });

  it("shows a reader no button that cannot work", async () => {
    const token = await service.token({ owner: await newGarden(), scopes: ["plants:read"] });
    const page = await visitors.open(look);
    await page.goto(`${service.url}/#token=${token}`);
    await page.getByText("Clarkia").waitFor();
    await page.getByText("Read only").waitFor();
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

  it("lets a writer without the scope to read add plants, and says what it cannot see", async () => {
    const owner = newOwner();
    const page = await visitors.open(look);
    await page.goto(`${service.url}/?view=overview#token=${await service.token({ owner, scopes: ["plants:write"] })}`);
    await page.getByText("cannot see the plants").waitFor();
    await page.getByRole("button", { name: "Add plant" }).click();
    await page.getByLabel("Name").fill("Clarkia");
    await page.locator("#new-id:not([value=''])").waitFor();
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("added").waitFor();
    expect(await service.storage.selectPlants(owner, { limit: 5 })).toMatchObject([{ name: "Clarkia" }]);
  });

  it("takes the token of a link that is opened in a tab where somebody is signed in", async () => {
    const page = await visitors.open(look);
    await page.goto(`${service.url}/#token=${await service.token()}`);
    await page.getByText("Nothing planted yet").waitFor();
    const token = await service.token({ owner: await newGarden() });
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `#token=${token}`);
    await page.getByText("Clarkia").waitFor();
    expect(page.url()).not.toContain(token);
    await page.evaluate(() => {
      location.hash = "#token=plt_mistyped";
    });
    await page.getByText("This is no token").waitFor();
    expect(await page.getByText("Clarkia").count()).toBe(0);
  });

  it("says that the server does not answer, and signs in when it does", async () => {
    const page = await visitors.open(look);
    await page.goto(service.url);
    await page.route("**/plants*", (route) => route.abort());
    await field(page).fill(await service.token({ owner: await newGarden() }));
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await page.unroute("**/plants*");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Clarkia").waitFor();
  });

  it("refuses to work where ids could not be exact", async () => {
    const page = await visitors.open(look);
    await page.addInitScript(() => Reflect.deleteProperty(JSON, "rawJSON"));
    await page.goto(`${service.url}/#token=${await service.token({ owner: await newGarden() })}`);
    await page.getByText("This browser is too old").waitFor();
    expect(await page.getByText("Clarkia").count()).toBe(0);
  });
});
