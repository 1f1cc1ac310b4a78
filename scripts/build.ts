/** `npm run build`: builds `dist/plantstore`, a single executable that includes the web page. */

import { mkdir } from "node:fs/promises";
import { bundlePage } from "../src/http/bundle.ts";

const page = await bundlePage();
await mkdir("dist", { recursive: true });
await Bun.build({
  // Threads are loaded by file name, so each needs its own entry point.
  entrypoints: ["src/main.ts", "src/storage/sqlite/writer-thread.ts", "src/storage/sqlite/reader-thread.ts"],
  naming: "[name].[ext]",
  compile: { outfile: "dist/plantstore" },
  minify: true,
  plugins: [
    {
      name: "embed the bundled page",
      setup(build) {
        const contents = `export const bundlePage = async () => (${JSON.stringify(page)});`;
        build.onLoad({ filter: /\/src\/http\/bundle\.ts$/ }, () => ({ loader: "js", contents }));
      },
    },
  ],
});
