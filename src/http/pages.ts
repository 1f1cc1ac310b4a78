import { AppError } from "../domain/error.ts";
import { type AssetHandler, asset } from "./asset.ts";
import { bundlePage } from "./bundle.ts";

/** Returns handlers for the web page, by path. Its API reference is at `/docs`. */
export function pages(): Readonly<Record<string, AssetHandler>> {
  const page = bundledPage();
  return {
    "/": (call) => page("/", call),
    "/docs": (call) => page("/", call),
    "/assets/:file": (call) => page(new URL(call.request.url).pathname, call),
  };
}

/** Serves the files of the web page. They are bundled on the first request. */
function bundledPage(): (path: string, ...call: Parameters<AssetHandler>) => Promise<Response> {
  let bundling: Promise<ReadonlyMap<string, AssetHandler>> | undefined;
  return async (path, call) => {
    bundling ??= bundledAssets();
    const handlers = await bundling.catch((error) => {
      bundling = undefined;
      throw error;
    });
    const handle = handlers.get(path);
    if (handle === undefined) throw new AppError("path_not_found", "path not found: reload the page at /");
    return handle(call);
  };
}

async function bundledAssets(): Promise<ReadonlyMap<string, AssetHandler>> {
  const files = await bundlePage();
  return new Map(
    files.map(({ path, type, text }) => [path, asset(type, async () => text, { isHashed: path !== "/" })]),
  );
}
