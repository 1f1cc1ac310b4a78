/** `npm run screenshots`: takes the screenshots of the web page for the README and `docs/`. */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { stringifyJson } from "../src/domain/json.ts";
import { launchBrowser } from "../test/support/browser.ts";
import { insertPlants, newOwner, startService } from "../test/support/service.ts";
import { SAMPLE_PLANTS } from "./sample-plants.ts";

const FOLDER = join(import.meta.dir, "../docs/images");
const DESKTOP = { viewport: { width: 1120, height: 720 }, deviceScaleFactor: 1.5 };
const PHONE = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 1.5, hasTouch: true };

const service = await startService();

/** Creates an owner with the sample plants and returns its token. */
async function tokenWithPlants(): Promise<string> {
  const owner = newOwner();
  await insertPlants(service, owner, SAMPLE_PLANTS);
  return service.token({ owner });
}
const token = await tokenWithPlants();

interface Screenshot {
  readonly name: string;
  readonly device: typeof DESKTOP;
  readonly colorScheme: "light" | "dark";
  setUp(page: Page): Promise<unknown>;
}

const openPlants = async (page: Page) => {
  await page.goto(`${service.url}/#token=${token}`);
  await page.getByText("Achillea").waitFor();
};
const clickButton = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

const SCREENSHOTS: readonly Screenshot[] = [
  { name: "plants", device: DESKTOP, colorScheme: "light", setUp: openPlants },
  { name: "plants-dark", device: DESKTOP, colorScheme: "dark", setUp: openPlants },
  {
    name: "undo-phone",
    device: PHONE,
    colorScheme: "light",
    async setUp(page) {
      await page.goto(`${service.url}/?tag=perennial#token=${await tokenWithPlants()}`);
      await page.getByLabel("Delete Aquilegia formosa").click();
      await page.getByText("deleted").waitFor();
    },
  },
  {
    name: "add-phone",
    device: PHONE,
    colorScheme: "dark",
    async setUp(page) {
      await openPlants(page);
      await clickButton(page, "Add plant");
      await page.getByLabel("Tag (optional)").fill("shrub (evergreen)");
      await clickButton(page, "Add");
      await page.getByText("name must be").waitFor();
    },
  },
  {
    name: "import",
    device: DESKTOP,
    colorScheme: "light",
    async setUp(page) {
      await page.goto(`${service.url}/?view=import#token=${await service.token()}`);
      const lines = SAMPLE_PLANTS.map((plant) => stringifyJson(plant)).with(1, '{"id": 2, "name": ""}');
      const buffer = Buffer.from(lines.join("\n"));
      await page.setInputFiles("input[type=file]", { name: "plants.ndjson", mimeType: "text/plain", buffer });
      await page.getByText("to import").waitFor();
    },
  },
  {
    name: "overview",
    device: DESKTOP,
    colorScheme: "dark",
    async setUp(page) {
      await page.goto(`${service.url}/?view=overview#token=${token}`);
      await page.getByRole("link", { name: "vine" }).waitFor();
    },
  },
  {
    name: "api",
    device: DESKTOP,
    colorScheme: "light",
    async setUp(page) {
      await page.goto(`${service.url}/docs`);
      await page.getByText("Requires the scope").first().waitFor();
    },
  },
];

const browser = await launchBrowser();
await mkdir(FOLDER, { recursive: true });
for (const { name, device, colorScheme, setUp } of SCREENSHOTS) {
  const page = await browser.newPage({ ...device, colorScheme, reducedMotion: "reduce" });
  await setUp(page);
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(FOLDER, `${name}.png`), caret: "hide" });
  await page.close();
  console.log(`docs/images/${name}.png`);
}
await browser.close();
await service.stop();
