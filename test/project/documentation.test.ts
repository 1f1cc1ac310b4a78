import { describe, expect, it } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { flagOf, namesOf, SETTINGS, type Setting, variableOf } from "../../src/config/settings.ts";
import { ERRORS } from "../../src/domain/error.ts";
import { run, startServerProcess } from "../support/program.ts";
import { temporaryFolder } from "../support/service.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => Bun.file(join(root, path)).text();
const readme = await read("README.md");

/** Returns the rows of the README's table between the comments with this name. */
function table(name: string): string[] {
  const [, body = ""] = new RegExp(`<!-- ${name} -->\n([^]*?)<!-- /${name} -->`).exec(readme) ?? [];
  return body.replaceAll(/ +/g, " ").trim().split("\n").slice(2);
}

describe("README", () => {
  it("lists every error number", () => {
    expect(table("errors")).toEqual(Object.values(ERRORS).map(({ number, meaning }) => `| ${number} | ${meaning} |`));
  });

  it("lists every setting", () => {
    expect(table("settings")).toEqual(
      namesOf(SETTINGS).map((name) => {
        const { default: preset, help }: Setting<unknown> = SETTINGS[name];
        const shown = preset === undefined ? "none" : `\`${preset}\``;
        return `| \`${flagOf(name)}\` | \`${variableOf(name)}\` | ${shown} | ${help} |`;
      }),
    );
  });

  it("shows the actual output of the first commands", async () => {
    const folder = temporaryFolder();
    const server = await startServerProcess(["--database", `sqlite:${folder.path}/plants.db`]);
    const token = /plt_\w+/.exec(server.stdout())?.[0] ?? "";
    const commands = [...readme.matchAll(/^((?:curl|npm run) .*)\n((?:#=> .*\n)+)/gm)];
    for (const [, command = "", expected = ""] of commands) {
      const words = split(
        command.replaceAll("http://127.0.0.1:8080", server.url).replaceAll("$PLANTSTORE_TOKEN", token),
      );
      const env = { PLANTSTORE_TOKEN: token, PLANTSTORE_URL: server.url };
      const printed = words[0] === "curl" ? await curl(words) : (await run(words.slice(5), { env, cwd: root })).stdout;
      expect(`${command}\n${printed.trim()}`).toBe(`${command}\n${expected.replaceAll("#=> ", "").trim()}`);
    }
    expect(commands.length).toBeGreaterThan(3);
    await server.stop();
    folder.remove();
  }, 30_000);
});

describe("the documentation", () => {
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].concat(
    readdirSync(join(root, "docs")).map((page) => `docs/${page}`),
  );

  it.each(pages.filter((page) => page.endsWith(".md")))("links to and names only existing files: %s", async (page) => {
    const text = await read(page);
    const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => join(page, "..", path ?? ""));
    const quoted = [...text.matchAll(/`((?:src|test|bench|docs|examples)\/[\w./-]+)`/g)].map(([, path]) => path ?? "");
    const exist = await Promise.all(
      [...linked, ...quoted].map((path) =>
        Bun.file(join(root, path))
          .stat()
          .catch(() => path),
      ),
    );
    expect(exist.filter((found) => typeof found === "string")).toEqual([]);
  });
});

/** Splits a shell command with simple quotes into words. */
function split(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? "",
  );
}

/** Emulates `curl` with the options that the README uses, so that the test does not require it. */
async function curl(words: readonly string[]): Promise<string> {
  const valuesOf = (option: string) => words.filter((_, index) => words[index - 1] === option);
  const [body] = valuesOf("-d");
  const response = await fetch(words.find((word) => word.startsWith("http://")) ?? "", {
    method: valuesOf("-X")[0] ?? (body === undefined ? "GET" : "POST"),
    headers: valuesOf("-H").map((header) => header.split(": ") as [string, string]),
    ...(body === undefined ? {} : { body }),
  });
  return (await response.text()) + (words.includes("-w") ? response.status : "");
}
