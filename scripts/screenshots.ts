/** `npm run screenshots`: makes the pictures of the page for the README and `docs/`. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { stringifyJson } from "../src/domain/json.ts";
import { openBrowser } from "../test/support/browser.ts";
import { newOwner, plantAll, startService } from "../test/support/service.ts";
import { PLANTS } from "./sample-plants.ts";

const FOLDER = join(import.meta.dir, "../docs/images");
const WIDE = { viewport: { width: 1120, height: 720 }, deviceScaleFactor: 1.5 };
const PHONE = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 1.5, hasTouch: true };

const service = await startService();

/** A token for an owner of all those plants. */
async function newGarden(): Promise<string> {
  const owner = newOwner();
  await plantAll(service, owner, PLANTS);
  return service.token({ owner });
}
const token = await newGarden();

interface Picture {
  readonly name: string;
  readonly device: typeof WIDE;
  readonly colorScheme: "light" | "dark";
  take(page: Page): Promise<unknown>;
}

const list = async (page: Page) => {
  await page.goto(`${service.url}/#token=${token}`);
  await page.getByText("Achillea").waitFor();
};
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

const PICTURES: readonly Picture[] = [
  { name: "plants", device: WIDE, colorScheme: "light", take: list },
  { name: "plants-dark", device: WIDE, colorScheme: "dark", take: list },
  {
    name: "undo-phone",
    device: PHONE,
    colorScheme: "light",
    async take(page) {
      await page.goto(`${service.url}/?tag=perennial#token=${await newGarden()}`);
      await page.getByLabel("Delete Aquilegia formosa").click();
      await page.getByText("deleted").waitFor();
    },
  },
  {
    name: "add-phone",
    device: PHONE,
    colorScheme: "dark",
    async take(page) {
      await list(page);
      await press(page, "Add plant");
      await page.getByLabel("Tag, if wanted").fill("shrub (evergreen)");
      await press(page, "Add");
      await page.getByText("name must be").waitFor();
    },
  },
  {
    name: "import",
    device: WIDE,
    colorScheme: "light",
    async take(page) {
      await page.goto(`${service.url}/?view=import#token=${await service.token()}`);
      const lines = PLANTS.map((plant) => stringifyJson(plant)).with(1, '{"id": 2, "name": ""}');
      const buffer = Buffer.from(lines.join("\n"));
      await page.setInputFiles("input[type=file]", { name: "garden.ndjson", mimeType: "text/plain", buffer });
      await page.getByText("to import").waitFor();
    },
  },
  {
    name: "overview",
    device: WIDE,
    colorScheme: "dark",
    async take(page) {
      await page.goto(`${service.url}/?view=overview#token=${token}`);
      await page.getByRole("link", { name: "vine" }).waitFor();
      await page.waitForLoadState("networkidle");
    },
  },
  {
    name: "api",
    device: WIDE,
    colorScheme: "light",
    async take(page) {
      await page.goto(`${service.url}/docs`);
      await page.locator(".opblock").first().waitFor();
    },
  },
];

const browser = await openBrowser();
await mkdir(FOLDER, { recursive: true });
for (const { name, device, colorScheme, take } of PICTURES) {
  const page = await browser.newPage({ ...device, colorScheme, reducedMotion: "reduce" });
  await take(page);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), caret: "hide" });
  await page.close();
  console.log(`docs/images/${name}.png`);
}
await browser.close();
await service.stop();
