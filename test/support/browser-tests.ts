import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from "bun:test";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page, ViewportSize } from "playwright-core";
import { openBrowser } from "./browser.ts";

/** How a person may see the page. */
const LOOKS = [
  { name: "phone, light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "phone, dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
  { name: "wide, light", viewport: { width: 1280, height: 860 }, colorScheme: "light" },
  { name: "wide, dark", viewport: { width: 1280, height: 860 }, colorScheme: "dark" },
] as const;
/** How the page is seen: one of {@link LOOKS}, or a window of another size. */
export type Look = Required<Pick<BrowserContextOptions, "colorScheme">> & { readonly viewport: ViewportSize };
/** Each width and each scheme once: for what depends on both, but not on the pair. */
export const EACH_LOOK: [name: string, look: Look][] = [LOOKS[1], LOOKS[2]].map((look) => [look.name, look]);

/** Milliseconds that a person waits for anything; only a failing test waits as long. */
const PATIENCE_MS = 60_000;
/** Longer, so that a failing test says what it waited for. */
const TEST_TIMEOUT_MS = 180_000;
/** What the browser itself reports of an answer of the API that says no. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d|net::ERR_/;

/** What the tests of a file use: a browser of their own, and people who visit. */
export interface Visitors {
  /** A new person, with nothing kept from others. */
  open(look?: Look): Promise<Page>;
}

/**
 * Starts a browser for the tests of the calling file. After each test everybody leaves, and nobody may have met an
 * uncaught error, a breach of the Content-Security-Policy, a cookie, or a request to another host.
 */
export function useVisitors(): Visitors {
  setDefaultTimeout(TEST_TIMEOUT_MS);
  let browser: Browser;
  let problems: string[] = [];
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    for (const context of browser.contexts()) {
      problems.push(...(await context.cookies()).map(({ name }) => `the cookie ${name}`));
      await context.close();
    }
    const met = problems;
    problems = [];
    expect(met).toEqual([]);
  });
  return {
    async open({ viewport, colorScheme } = LOOKS[2]) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      page.on("pageerror", (error) => problems.push(String(error.stack)));
      page.on("console", (message) => {
        if (message.type() === "error" && !REFUSED.test(message.text())) problems.push(message.text());
      });
      page.on("request", (request) => {
        const { protocol, hostname } = new URL(request.url());
        if (protocol !== "blob:" && hostname !== "127.0.0.1") problems.push(`a request to ${request.url()}`);
      });
      return page;
    },
  };
}

/** Holds the page, as it is now, to WCAG 2.2 AA and to what is more in axe, in every look. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const { name, viewport, colorScheme } of LOOKS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // Of the rules, only that for contrast can tell dark from light; that for the size of targets is off unless asked for.
    const rules =
      colorScheme === "dark" ? { runOnly: ["color-contrast"] } : { rules: { "target-size": { enabled: true } } };
    const violations = await page.evaluate(async (rules) => {
      const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
      const results = await axe.run(document, { ...rules, resultTypes: ["violations"], preload: false });
      return results.violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target} ${html}`));
    }, rules);
    expect({ name, violations }).toEqual({ name, violations: [] });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect({ name, overflow: Math.max(0, overflow) }).toEqual({ name, overflow: 0 });
  }
}
