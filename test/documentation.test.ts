import { describe, expect, it } from "bun:test";
import { join } from "node:path";
import { SETTINGS } from "../src/config.ts";
import { ERRORS } from "../src/domain/error.ts";

const root = join(import.meta.dir, "..");
const readme = await Bun.file(join(root, "README.md")).text();

/** The rows of the README's table between two comments. */
function table(name: string): string[] {
  const [, body = ""] = new RegExp(`<!-- ${name} -->\n([^]*?)<!-- /${name} -->`).exec(readme) ?? [];
  return body.trim().split("\n").slice(2);
}

describe("README", () => {
  it("lists every error number", () => {
    expect(table("errors")).toEqual(Object.values(ERRORS).map(({ number, when }) => `| ${number} | ${when} |`));
  });

  it("lists every setting", () => {
    expect(table("settings")).toEqual(
      Object.values(SETTINGS).map((setting) => {
        const preset = setting.default === undefined ? "" : `\`${setting.default}\``;
        return `| \`${setting.flag}\` | \`${setting.variable}\` | ${preset} | ${setting.help} |`;
      }),
    );
  });
});
