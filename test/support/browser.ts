import { existsSync, renameSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import packageJson from "../../package.json" with { type: "json" };

const LAUNCH_TIMEOUT_MS = 30_000;
const VERSION = packageJson.devDependencies["@sparticuz/chromium"];
const CACHE = join(import.meta.dir, "../../node_modules/.cache");

/**
 * Launches the Chromium of the development dependencies, with its own libraries and font, so that it runs on a minimal
 * system and renders the same everywhere. It requires Linux on x64; set `PLANTSTORE_TEST_CHROMIUM` to use another browser.
 */
export async function launchBrowser(): Promise<Browser> {
  const args = [
    "--no-sandbox",
    "--no-zygote",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--font-render-hinting=none",
  ];
  const timeout = LAUNCH_TIMEOUT_MS;
  const custom = process.env["PLANTSTORE_TEST_CHROMIUM"];
  if (custom) return chromium.launch({ executablePath: custom, args, timeout });
  const home = await unpack();
  const env = { ...process.env, LD_LIBRARY_PATH: join(home, "al2023/lib"), FONTCONFIG_PATH: join(home, "fonts") };
  return chromium.launch({ executablePath: join(home, "chromium"), args, env, timeout });
}

/** Unpacks Chromium into {@link CACHE} unless it exists, and returns its folder. */
async function unpack(): Promise<string> {
  const home = join(CACHE, `chromium-${VERSION}`);
  if (existsSync(home)) return home;
  const partial = `${home}.${process.pid}`;
  await mkdir(partial, { recursive: true });
  // The package unpacks into TMPDIR, and includes the libraries only if it detects AWS Lambda.
  const env = { ...process.env, TMPDIR: partial, AWS_LAMBDA_JS_RUNTIME: "nodejs22.x" };
  const script = join(import.meta.dir, "unpack-chromium.ts");
  const unpacking = Bun.spawn([process.execPath, script], { env, stdout: "ignore", stderr: "pipe" });
  if ((await unpacking.exited) !== 0) throw new Error(await new Response(unpacking.stderr).text());
  const fonts = `<fontconfig><dir>${home}/fonts</dir><cachedir>${home}/fonts/cache</cachedir></fontconfig>`;
  await writeFile(join(partial, "fonts/fonts.conf"), `<!DOCTYPE fontconfig SYSTEM "fonts.dtd">${fonts}`);
  try {
    renameSync(partial, home);
  } catch (error) {
    // Another process has unpacked it in the meantime.
    if (!existsSync(home)) throw error;
    rmSync(partial, { recursive: true });
  }
  return home;
}
