import { afterAll, beforeAll, describe, it } from "bun:test";
import type { Page } from "playwright-core";
import { expectAccessible, useVisitors } from "../support/browser-tests.ts";
import { newOwner, type Service, startService } from "../support/service.ts";

const visitors = useVisitors();
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

/** Every state that the page can be in, and how to get there. */
const STATES: Record<string, (page: Page) => Promise<unknown>> = {
  "signed out": async (page) => {
    await page.goto(`${service.url}/`);
    await page.getByLabel("Your token").waitFor();
  },
  "a token refused": async (page) => {
    await page.goto(`${service.url}/#token=plt_${"0".repeat(36)}`);
    await page.getByText("does not work").waitFor();
  },
  "a browser too old": async (page) => {
    await page.addInitScript(() => Reflect.deleteProperty(JSON, "rawJSON"));
    await page.goto(`${service.url}/`);
    await page.getByText("too old").waitFor();
  },
  "the list": async (page) => {
    await page.goto(`${service.url}/#token=${token}`);
    await page.getByText("Clarkia").waitFor();
  },
  "the list, read only": async (page) => {
    const reader = await service.token({
      owner: (await service.tokens.authenticate(token))?.owner ?? "",
      scopes: ["plants:read"],
    });
    await page.goto(`${service.url}/#token=${reader}`);
    await page.getByText("Clarkia").waitFor();
  },
  "a token that may only write": async (page) => {
    await page.goto(`${service.url}/#token=${await service.token({ scopes: ["plants:write"] })}`);
    await page.getByText("cannot see the plants").waitFor();
  },
  "plants selected and one deleted": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByLabel("Select Clarkia").check();
    await page.getByLabel("Delete Vitis californica").click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("restored").waitFor();
  },
  "the list being loaded": async (page) => {
    await page.route(/fields=/, () => {});
    await page.addInitScript(() => sessionStorage.setItem("plantstore.scopes", "read write"));
    await page.addInitScript((kept) => sessionStorage.setItem("plantstore.token", kept), token);
    await page.goto(`${service.url}/`);
    await page.locator(".skeleton").waitFor();
  },
  "the list that cannot be loaded": async (page) => {
    await page.addInitScript(() => sessionStorage.setItem("plantstore.scopes", "read write"));
    await page.addInitScript((kept) => sessionStorage.setItem("plantstore.token", kept), token);
    await page.route(/fields=/, (route) => route.abort());
    await page.goto(`${service.url}/`);
    await page.getByText("could not be loaded").waitFor();
  },
  "no plants": async (page) => {
    await page.goto(`${service.url}/#token=${await service.token()}`);
    await page.getByText("Nothing planted yet").waitFor();
  },
  "no plant with the tag": async (page) => {
    await page.goto(`${service.url}/?tag=nowhere#token=${token}`);
    await page.getByText("No plant has this tag").waitFor();
  },
  "no such name": async (page) => {
    await page.goto(`${service.url}/?find=nowhere#token=${token}`);
    await page.getByText("No such name").waitFor();
  },
  "a plant": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByRole("button", { name: "nnn" }).first().click();
    await page.getByRole("dialog").waitFor();
  },
  "the form, with its faults": async (page) => {
    await STATES["the list"]?.(page);
    await page.getByRole("button", { name: "Add plant" }).click();
    await page.getByLabel("Id", { exact: true }).fill("x");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("id must be").waitFor();
  },
  export: async (page) => {
    await STATES["the list"]?.(page);
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("button", { name: "CSV" }).waitFor();
  },
  overview: async (page) => {
    await page.goto(`${service.url}/?view=overview#token=${token}`);
    await page.getByRole("cell", { name: "no tag" }).waitFor();
  },
  import: async (page) => {
    await page.goto(`${service.url}/?view=import#token=${await service.token()}`);
    await page.getByText("Drop a file here").waitFor();
  },
  "a file that cannot be read": async (page) => {
    await STATES["import"]?.(page);
    await choose(page, "plants.csv", "no columns");
    await page.getByText("must name the columns").waitFor();
  },
  "the preview of a file": async (page) => {
    await STATES["import"]?.(page);
    await choose(page, "plants.csv", CSV);
    await page.getByText("will be refused").waitFor();
  },
  "an import with refused rows": async (page) => {
    await STATES["the preview of a file"]?.(page);
    await page.getByRole("button", { name: "Import 2 plants" }).click();
    await page.getByText("already in use").waitFor();
  },
  offline: async (page) => {
    await STATES["the list"]?.(page);
    await page.context().setOffline(true);
    await page.getByText("You are offline").waitFor();
  },
};

describe("the page is accessible, phone to wide, light and dark, with", () => {
  it.each(Object.keys(STATES))("%s", async (state) => {
    const page = await visitors.open();
    await STATES[state]?.(page);
    await expectAccessible(page);
  });
});
