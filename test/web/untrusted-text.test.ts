import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import type { Page } from "playwright-core";
import { invisibleCharacters, visibleText } from "../../src/web/format.ts";
import { DISPLAYS, type Display, useBrowser } from "../support/browser-tests.ts";
import { insertPlants, newOwner, type Service, startService } from "../support/service.ts";

const browser = useBrowser();
let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const MARKUP = [
  "<img src=x onerror=\"document.title='owned'\">",
  "<script>document.title='owned'</script>",
  '"><svg onload="document.title=\'owned\'">',
  "javascript:document.title='owned'",
  "{{constructor.constructor('document.title=1')()}}",
  `\${document.title='owned'}`,
  "</title></textarea></style><iframe srcdoc='<script>parent.document.title=1</script>'>",
  "&lt;b&gt; &amp;amp; &#60;",
];
const DIRECTION = ["\u202egnihtemos\u2066 else", "\u2069\u202e\u2067abc", "مرحبا (Arabic) 123", "שלום"];
const INVISIBLE = ["\u200b", "\u00ad\u2060", "\u3164", "\u2800\u0301", "\u0007\u001b[31m"];
const LONG = [
  "n".repeat(1024),
  "🌱".repeat(1024),
  "e\u0301".repeat(512),
  "W\u0336\u0335\u0337".repeat(200),
  "a\nb\tc  d",
];
const NAMES = [...MARKUP, ...DIRECTION, ...INVISIBLE, ...LONG];

/** Opens the page of an owner with a plant for each of {@link NAMES}; the tag is the name's first 255 characters. */
async function openPage(display: Display): Promise<Page> {
  const owner = newOwner();
  const plants = NAMES.map((name, id) => ({ id: BigInt(id), name, tag: [...name].slice(0, 255).join("") }));
  await insertPlants(service, owner, plants);
  // Tall enough to render all rows.
  const page = await browser.open({ ...display, viewport: { ...display.viewport, height: 2_500 } });
  await page.goto(`${service.url}/#token=${await service.token({ owner })}`);
  await page.getByText(`${NAMES.length} plants`).waitFor();
  return page;
}

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

describe.each(DISPLAYS)("untrusted names and tags on %s", (_, display: Display) => {
  it("are shown as text in the list, and in full in the dialog", async () => {
    const page = await openPage(display);
    const rows = await page.locator("tbody tr[id]").evaluateAll((all) =>
      all.map((row) => ({
        id: row.querySelector(".id")?.textContent,
        name: row.querySelector(".name")?.textContent,
        tag: row.querySelector(".tag-cell")?.textContent,
        height: row.getBoundingClientRect().height,
        elements: row.querySelectorAll(".name *, .tag-cell *").length,
      })),
    );
    const height = display.viewport.width < 640 ? 64 : 48;
    expect(rows).toEqual(
      NAMES.map((name, id) => {
        const tag = visibleText([...name].slice(0, 255).join(""));
        return { id: String(id), name: visibleText(name), tag, height, elements: 2 };
      }),
    );
    await page.getByRole("grid").focus();
    for (const name of NAMES) {
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      expect(await dialog.locator("dd").first().textContent()).toBe(visibleText(name));
      expect(await dialog.locator("dd").first().locator("*").count()).toBe(0);
      expect(await dialog.locator("dd").count()).toBe(invisibleCharacters(name) === "" ? 3 : 4);
      await page.keyboard.press("Escape");
      await page.keyboard.press("ArrowDown");
    }
    expect(await page.title()).toBe("Plants · Plant Store");
  });

  it("are shown as text in notifications, filters, the overview and previews", async () => {
    const page = await openPage(display);
    for (const name of [...MARKUP, ...DIRECTION].slice(0, 12)) {
      const id = NAMES.indexOf(name);
      const row = page.locator("tbody tr[id]").filter({ has: page.locator(".id", { hasText: new RegExp(`^${id}$`) }) });
      await row.getByRole("button").last().click();
      const bar = page.locator(".bar");
      await bar.getByText("deleted").waitFor();
      expect(await bar.locator("bdi").textContent()).toBe(visibleText(name));
      await press(page, "Undo");
      await bar.getByText("restored").waitFor();
      await bar.getByRole("button", { name: "Close" }).click();
    }
    const [tag = ""] = MARKUP;
    await page.goto(`${service.url}/?tag=${encodeURIComponent(tag)}&find=${encodeURIComponent(tag)}`);
    await page.getByText("1 found among 1 plant").waitFor();
    await press(page, "Export");
    expect(await page.getByRole("dialog").locator("bdi").textContent()).toBe(tag);
    await page.goto(`${service.url}/?view=overview`);
    await page.locator("tbody tr").first().waitFor();
    expect(await page.locator("tbody tr").count()).toBe(NAMES.length);
    expect(await page.locator("tbody :not(tr, td, a, .share)").count()).toBe(0);
    await page.goto(`${service.url}/?view=import`);
    const rows = MARKUP.map((name, id) => `${JSON.stringify({ id, name, tag: name, [name]: name })}\n`);
    const file = {
      name: `${tag.replaceAll("/", "")}.ndjson`,
      mimeType: "text/plain",
      buffer: Buffer.from(rows.join("")),
    };
    await page.setInputFiles("input[type=file]", file);
    await page.getByText(`${MARKUP.length} plants to import`).waitFor();
    expect(await page.locator("tbody :not(tr, td)").count()).toBe(0);
    expect(await page.title()).toBe("Import · Plant Store");
  });
});

describe("visibleText", () => {
  it.each([
    ["Clarkia", "Clarkia"],
    ["\u200bx", "\u200bx"],
    ["\u200b\u2060", "U+200B U+2060"],
    ["\u3164\u2800", "U+3164 U+2800"],
    ["\u0007", "U+0007"],
    ["\u{e0041}", "U+E0041"],
    ["🌱", "🌱"],
  ])("turns %j into %j", (text, expected) => {
    expect(visibleText(text)).toBe(expected);
  });
});

describe("invisibleCharacters", () => {
  it("returns each invisible character once", () => {
    expect(invisibleCharacters("Clarkia é 🌱\n")).toBe("U+000A");
    expect(invisibleCharacters("a\u202eb\u202ec\u200d")).toBe("U+202E U+200D");
    expect(invisibleCharacters("Clarkia")).toBe("");
  });
});
