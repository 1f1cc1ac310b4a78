import swaggerStyle from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import swaggerScript from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { AppError } from "../domain/error.ts";
import docsStyle from "../web/docs.css" with { type: "file" };
import docsPage from "../web/docs.html" with { type: "file" };
import docsScript from "../web/docs.js" with { type: "file" };
import icon from "../web/icon.svg" with { type: "file" };
import theme from "../web/styles/theme.css" with { type: "file" };
import { type AssetHandler, asset } from "./asset.ts";
import { bundlePage } from "./bundle.ts";

/** Makes browsers reject HTML and scripts created from strings (W3C Trusted Types). */
const TRUSTED_TYPES = "; require-trusted-types-for 'script'; trusted-types 'none'";

/** The files of the API reference, by URL path. */
const REFERENCE: Readonly<Record<string, string>> = {
  "/icon.svg": icon,
  "/docs": String(docsPage),
  "/docs/theme.css": theme,
  "/docs/docs.css": docsStyle,
  "/docs/docs.js": docsScript,
  "/docs/swagger-ui.css": swaggerStyle,
  "/docs/swagger-ui-bundle.js": swaggerScript,
};

/** Returns handlers for the web page and the API reference, by path. All their files are local. */
export function pages(): Readonly<Record<string, AssetHandler>> {
  const page = bundledPage();
  return {
    "/": (call) => page("/", call),
    "/assets/:file": (call) => page(new URL(call.request.url).pathname, call),
    ...Object.fromEntries(Object.entries(REFERENCE).map(([path, file]) => [path, fileAsset(file)])),
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
    files.map(({ path, type, text }) => {
      const options = path === "/" ? { policy: TRUSTED_TYPES } : { isHashed: true };
      return [path, asset(type, async () => text, options)];
    }),
  );
}

/** Serves a file with the media type of its extension. */
function fileAsset(path: string): AssetHandler {
  const file = Bun.file(path);
  return asset(file.type, async () => (path === swaggerStyle ? withoutImages(await file.text()) : file.bytes()));
}

/** Removes the `data:` images of Swagger UI's style sheet. The policy blocks them, and the page has its own icons. */
const withoutImages = (css: string): string => css.replaceAll(/url\(("?)data:.*?\1\)/gs, "none");
