import swaggerStyle from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import swaggerScript from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { AppError } from "../domain/error.ts";
import docsStyle from "../web/docs.css" with { type: "file" };
import docsPage from "../web/docs.html" with { type: "file" };
import docsScript from "../web/docs.js" with { type: "file" };
import icon from "../web/icon.svg" with { type: "file" };
import theme from "../web/theme.css" with { type: "file" };
import { type AssetHandler, asset } from "./asset.ts";
import { bundlePage } from "./bundle.ts";

/** The page makes no markup from text, and the browser holds it to that (W3C Trusted Types). */
const NO_MARKUP_FROM_TEXT = "; require-trusted-types-for 'script'; trusted-types 'none'";

/** Where each file of the reference page is, by the path it is served at. */
const REFERENCE: Readonly<Record<string, string>> = {
  "/icon.svg": icon,
  "/docs": String(docsPage),
  "/docs/theme.css": theme,
  "/docs/docs.css": docsStyle,
  "/docs/docs.js": docsScript,
  "/docs/swagger-ui.css": swaggerStyle,
  "/docs/swagger-ui-bundle.js": swaggerScript,
};

/** The pages for people, by path. Nothing on them comes from elsewhere. */
export function pages(): Readonly<Record<string, AssetHandler>> {
  const page = bundledPage();
  return {
    "/": (call) => page("/", call),
    "/assets/:file": (call) => page(new URL(call.request.url).pathname, call),
    ...Object.fromEntries(Object.entries(REFERENCE).map(([path, file]) => [path, fileAsset(file)])),
  };
}

/** Serves the files of the page, which is bundled at the first request for one of them. */
function bundledPage(): (path: string, ...call: Parameters<AssetHandler>) => Promise<Response> {
  let bundling: Promise<ReadonlyMap<string, AssetHandler>> | undefined;
  return async (path, call) => {
    bundling ??= bundledAssets();
    const handlers = await bundling.catch((error) => {
      bundling = undefined;
      throw error;
    });
    const handle = handlers.get(path);
    if (handle === undefined) throw new AppError("path_not_found", "there is nothing at this path: load / again");
    return handle(call);
  };
}

async function bundledAssets(): Promise<ReadonlyMap<string, AssetHandler>> {
  const files = await bundlePage();
  return new Map(
    files.map(({ path, type, text }) => {
      const options = path === "/" ? { policy: NO_MARKUP_FROM_TEXT } : { isHashed: true };
      return [path, asset(type, async () => text, options)];
    }),
  );
}

/** A file of the type that its name tells. */
function fileAsset(path: string): AssetHandler {
  const file = Bun.file(path);
  return asset(file.type, async () => (path === swaggerStyle ? withoutImages(await file.text()) : file.bytes()));
}

/** Swagger UI's style sheet carries images in itself, which the policy forbids; the reference page draws its own. */
const withoutImages = (css: string): string => css.replaceAll(/url\(("?)data:.*?\1\)/gs, "none");
