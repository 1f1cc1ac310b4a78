import { AppError } from "../domain/error.ts";
import { type AssetHandler, asset } from "./asset.ts";
import { bundlePage } from "./bundle.ts";
import { loadOnce } from "./load-once.ts";

/** For files whose name contains a hash of their content. */
const HASHED_HEADERS = { "Cache-Control": "public, max-age=31536000, immutable" };

/** Returns the handlers of the web page by path. `/docs` is its API reference. */
export function webPage(): Readonly<Record<string, AssetHandler>> {
  const bundle = loadOnce(bundledAssets);
  const servePage: AssetHandler = async (call) => {
    const { pathname } = new URL(call.request.url);
    const serve = (await bundle()).get(pathname.startsWith("/assets/") ? pathname : "/");
    if (serve === undefined) throw new AppError("path_not_found", "path not found: reload the page at /");
    return serve(call);
  };
  return { "/": servePage, "/docs": servePage, "/assets/:file": servePage };
}

/** Bundles the web page and returns the handlers of its files by path. */
async function bundledAssets(): Promise<ReadonlyMap<string, AssetHandler>> {
  const files = await bundlePage();
  return new Map(
    files.map(({ path, type, text }) => [path, asset(type, async () => text, path === "/" ? {} : HASHED_HEADERS)]),
  );
}
