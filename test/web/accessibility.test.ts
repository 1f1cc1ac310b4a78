import { afterAll, beforeAll, describe, it } from "bun:test";
import type { Page } from "playwright-core";
import { expectAccessible, useBrowser } from "../support/browser-tests.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const browser = useBrowser();
let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
  const owner = newOwner();
  const names = ["Clarkia", "Vitis californica", "\u202edesrever", "\u200b", "n".repeat(1024), "🌱".repeat(300)];
  for (const [index, name] of names.entries()) {
    const plant = { id: BigInt(index) - 2n ** 62n, name };
    await service.storage.insertPlant(owner, index % 2 ? { ...plant, tag: "t".repeat(index * 40) } : plant, undefined);
  }
  token = await service.token({ owner });
});
afterAll(() => service.stop());

const CSV = "id,name,tag,note\n1,Clarkia,annual,x\nx,Bad,,\n1,Twice,,\n";
const choose = (page: Page, name: string, text: string) =>
  page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer: Buffer.from(text) });

/** All states of the page, each with the steps that lead to it. */
const STATES: Record<string, (page: Page) => Promise<unknown>> = {
  "signed out": async (page) => {
    await page.goto(`${service.url}/`);
    await page.getByLabel("Your token").waitFor();
  },
  "a rejected token": async (page) => {
    await page.goto(`${service.url}/#token=plt_${"0".repeat(36)}`);
    await page.getByText("does not work").waitFor();
  },
  "an unsupported browser": async (page) => {
    await page.addInitScript(() => Reflect.deleteProperty(JSON, "rawJSON"));
    await page.goto(`${service.url}/`);
    await page.getByText("too old").waitFor();
  },
  "the list": async (page) => {
    await page.goto(`${service.url}/#token=${token}`);
    await page.getByText("Clarkia").waitFor();
  },
  "the list with a read-only token": async (page) => {
    const reader = await service.token({
      owner: (await service.tokens.authenticate(token))?.owner ?? "",
      scopes: ["plants:read"],
    });
    await page.goto(`${service.url}/#token=${reader}`);
    await page.getByText("Clarkia").waitFor();
  },
  "a write-only token": async (page) => {
    await page.goto(`${service.url}/#token=${await service.token({ scopes: ["plants:write"] })}`);
    await page.getByText("cannot read plants").waitFor();
  },
  "a selection and an undone deletion": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByLabel("Select Clarkia").check();
    await page.getByLabel("Delete Vitis californica").click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("restored").waitFor();
  },
  "a list that is loading": async (page) => {
    await page.route(/fields=/, () => {});
    await page.addInitScript(() => sessionStorage.setItem("plantstore.scopes", "read write"));
    await page.addInitScript((value) => sessionStorage.setItem("plantstore.token", value), token);
    await page.goto(`${service.url}/`);
    await page.locator(".skeleton").waitFor();
  },
  "a list that failed to load": async (page) => {
    await page.addInitScript(() => sessionStorage.setItem("plantstore.scopes", "read write"));
    await page.addInitScript((value) => sessionStorage.setItem("plantstore.token", value), token);
    await page.route(/fields=/, (route) => route.abort());
    await page.goto(`${service.url}/`);
    await page.getByText("could not be loaded").waitFor();
  },
  "no plants": async (page) => {
    await page.goto(`${service.url}/#token=${await service.token()}`);
    await page.getByText("No plants yet").waitFor();
  },
  "no plants with the tag": async (page) => {
    await page.goto(`${service.url}/?tag=nowhere#token=${token}`);
    await page.getByText("No plant has this tag").waitFor();
  },
  "no search results": async (page) => {
    await page.goto(`${service.url}/?find=nowhere#token=${token}`);
    await page.getByText("No matching plants").waitFor();
  },
  "a plant's details": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByRole("button", { name: "nnn" }).first().click();
    await page.getByRole("dialog").waitFor();
  },
  "a form with errors": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByRole("button", { name: "Add plant" }).click();
    await page.getByLabel("ID", { exact: true }).fill("x");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("id must be").waitFor();
  },
  "the export dialog": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("button", { name: "CSV" }).waitFor();
  },
  "the overview": async (page) => {
    await page.goto(`${service.url}/?view=overview#token=${token}`);
    await page.getByRole("cell", { name: "no tag" }).waitFor();
  },
  "the import": async (page) => {
    await page.goto(`${service.url}/?view=import#token=${await service.token()}`);
    await page.getByText("Drop a file here").waitFor();
  },
  "an unreadable file": async (page) => {
    await STATES["the import"]?.(page);
    await choose(page, "plants.csv", "no columns");
    await page.getByText("must contain each column name once").waitFor();
  },
  "a file preview": async (page) => {
    await STATES["the import"]?.(page);
    await choose(page, "plants.csv", CSV);
    await page.getByText("will be skipped").waitFor();
  },
  "an import with skipped rows": async (page) => {
    await STATES["a file preview"]?.(page);
    await page.getByRole("button", { name: "Import 2 plants" }).click();
    await page.getByText("already in use").waitFor();
  },
  offline: async (page) => {
    await STATES["the list"]?.(page);
    await page.context().setOffline(true);
    await page.getByText("You are offline").waitFor();
  },
};

describe("the page", () => {
  it.each(Object.keys(STATES))("is accessible: %s", async (state) => {
    const page = await browser.open();
    await STATES[state]?.(page);
    await expectAccessible(page);
  });
});
