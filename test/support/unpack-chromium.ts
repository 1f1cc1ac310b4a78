/** Unpacks Chromium. The package reads its settings from the environment, so it needs its own process. */
import chromium from "@sparticuz/chromium";

await chromium.executablePath();
