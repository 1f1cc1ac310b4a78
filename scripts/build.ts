/** `npm run build`: the one-file program, with the page for people in it. */

import { mkdir } from "node:fs/promises";
import { bundlePage } from "../src/http/bundle.ts";

const page = await bundlePage();
await mkdir("dist", { recursive: true });
await Bun.build({
  // Threads are loaded by their names, and so need entries of their own.
  entrypoints: ["src/main.ts", "src/storage/sqlite/writer-thread.ts", "src/storage/sqlite/reader-thread.ts"],
  naming: "[name].[ext]",
  compile: { outfile: "dist/plantstore" },
  minify: true,
  plugins: [
    {
      name: "the page as it is, in the place of what bundles it",
      setup(build) {
        const contents = `export const bundlePage = async () => (${JSON.stringify(page)});`;
        build.onLoad({ filter: /\/src\/http\/bundle\.ts$/ }, () => ({ loader: "js", contents }));
      },
    },
  ],
});
