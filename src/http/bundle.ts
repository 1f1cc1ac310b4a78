import { join } from "node:path";

/** One file of the page for people, as it is served. */
export interface PageFile {
  /** Where it is: `/` the document, `/assets/...` what it loads, with a hash of the content in the name. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly text: string;
}

/**
 * Bundles the page from its sources, which takes a tenth of a second. The one-file program has no sources: its build
 * puts the files in the place of this module (`scripts/build.ts`).
 * @throws AggregateError when the sources do not build
 */
export async function bundlePage(): Promise<readonly PageFile[]> {
  const naming = "assets/[name]-[hash].[ext]";
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../web/index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    publicPath: "/",
    naming: { chunk: naming, asset: naming },
    plugins: [{ name: "csv in browsers", setup: bringCsvToBrowsers }],
  });
  return Promise.all(
    outputs.map(async (output) => ({
      path: output.path.replace(/^\.(\/index\.html$)?/, "") || "/",
      type: output.type,
      text: await output.text(),
    })),
  );
}

/** The CSV packages take Buffer for a global, and name the streams that are globals in browsers as a module of Node. */
function bringCsvToBrowsers(build: Bun.PluginBuilder): void {
  build.onLoad({ filter: /node_modules\/csv-\w+\/lib\/.*\.js$/ }, async ({ path }) => {
    const code = (await Bun.file(path).text()).replace(/^import .* from "node:stream\/web";/m, "");
    return { loader: "js", contents: `import { Buffer } from "node:buffer"; ${code}` };
  });
}
