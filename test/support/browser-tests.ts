import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout } from "bun:test";
import axe from "axe-core";
import type { Browser, BrowserContextOptions, Page, ViewportSize } from "playwright-core";
import { launchBrowser } from "./browser.ts";

const ALL_DISPLAYS = [
  { name: "phone, light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "phone, dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
  { name: "desktop, light", viewport: { width: 1280, height: 860 }, colorScheme: "light" },
  { name: "desktop, dark", viewport: { width: 1280, height: 860 }, colorScheme: "dark" },
] as const;
/** A viewport and a color scheme. */
export type Display = Required<Pick<BrowserContextOptions, "colorScheme">> & { readonly viewport: ViewportSize };
/** Covers each viewport and each color scheme once, but not every combination. */
export const DISPLAYS: [name: string, display: Display][] = ALL_DISPLAYS.slice(1, 3).map((each) => [each.name, each]);

/** Timeout of one browser action in milliseconds; only a failing test reaches it. */
const ACTION_TIMEOUT_MS = 60_000;
/** Longer than one action, so that a failing test reports the action. */
const TEST_TIMEOUT_MS = 180_000;
/** Console errors that the browser logs for expected 4xx responses and network errors. */
const EXPECTED_ERROR = /^Failed to load resource: the server responded with a status of 4\d\d|net::ERR_/;

/** The browser of a test file. */
export interface TestBrowser {
  /** Opens a page in a new browser context, which shares no storage with others. */
  open(display?: Display): Promise<Page>;
}

/**
 * Launches a browser for the calling test file. After each test, closes all pages and fails the test if there was an
 * uncaught error, a Content-Security-Policy violation, a cookie, or a request to another host.
 */
export function useBrowser(): TestBrowser {
  setDefaultTimeout(TEST_TIMEOUT_MS);
  let browser: Browser;
  let problems: string[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    for (const context of browser.contexts()) {
      problems.push(...(await context.cookies()).map(({ name }) => `cookie ${name}`));
      await context.close();
    }
    const reported = problems;
    problems = [];
    expect(reported).toEqual([]);
  });
  return {
    async open({ viewport, colorScheme } = ALL_DISPLAYS[2]) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      page.setDefaultTimeout(ACTION_TIMEOUT_MS);
      page.on("pageerror", (error) => problems.push(String(error.stack)));
      page.on("console", (message) => {
        if (message.type() === "error" && !EXPECTED_ERROR.test(message.text())) problems.push(message.text());
      });
      page.on("request", (request) => {
        const { protocol, hostname } = new URL(request.url());
        if (protocol !== "blob:" && hostname !== "127.0.0.1") problems.push(`request to ${request.url()}`);
      });
      return page;
    },
  };
}

/** Checks the page's current state against WCAG 2.2 AA and axe's other rules, on every display. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  for (const { name, viewport, colorScheme } of ALL_DISPLAYS) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // Only the contrast rule depends on the color scheme. The target-size rule is off by default.
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
