import { join } from "node:path";

/** One file of the web page, as it is served. */
export interface PageFile {
  /** `/` for the document, `/assets/<name>-<hash>.<ext>` for everything it loads. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  readonly text: string;
}

/**
 * Bundles the page in a separate process, which takes 0.3 s. In this process, one failure for lack of file descriptors
 * would make all later attempts fail, because Bun's resolver caches it. The single-file executable has no sources: its
 * build replaces this module with the bundled files (`scripts/build.ts`).
 * @throws Error when the build fails
 */
export async function bundlePage(): Promise<readonly PageFile[]> {
  const child = Bun.spawn([process.execPath, import.meta.path], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [files, errors] = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
  if ((await child.exited) !== 0) throw new Error(`cannot bundle the page: ${errors}`);
  return JSON.parse(files as string) as readonly PageFile[];
}

if (import.meta.main) console.log(JSON.stringify(await buildPage()));

async function buildPage(): Promise<readonly PageFile[]> {
  const naming = "assets/[name]-[hash].[ext]";
  const { outputs } = await Bun.build({
    entrypoints: [join(import.meta.dir, "../web/index.html")],
    target: "browser",
    minify: true,
    splitting: true,
    publicPath: "/",
    naming: { chunk: naming, asset: naming },
    plugins: [{ name: "csv in browsers", setup: adaptCsvToBrowsers }],
  });
  return Promise.all(
    outputs.map(async (output) => ({
      path: output.path.replace(/^\.(\/index\.html$)?/, "") || "/",
      type: output.type,
      text: await output.text(),
    })),
  );
}

/** The CSV packages expect `Buffer` as a global and import web streams, which are globals in browsers, from Node. */
function adaptCsvToBrowsers(build: Bun.PluginBuilder): void {
  build.onLoad({ filter: /node_modules\/csv-\w+\/lib\/.*\.js$/ }, async ({ path }) => {
    const code = (await Bun.file(path).text()).replace(/^import .* from "node:stream\/web";/m, "");
    return { loader: "js", contents: `import { Buffer } from "node:buffer"; ${code}` };
  });
}
