/** Unpacks the browser of the development packages; a process of its own, as it looks for settings in the environment. */
import chromium from "@sparticuz/chromium";

await chromium.executablePath();
