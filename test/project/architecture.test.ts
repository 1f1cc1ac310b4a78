import { describe, expect, it } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const MAX_LINES = 250;

interface Rule {
  /** The file, or folder with all its files, that the rule applies to. */
  readonly part: string;
  /** Allowed imports besides the part itself: files, folders, `node:` and `bun:` modules, `packages`. */
  readonly may: readonly string[];
  /** Allowed type-only imports. */
  readonly mayType?: readonly string[];
}

const EVERYTHING = ["src/", "package.json", "node:", "bun:", "packages"];

/** For each file, the first rule whose part contains it applies. */
const RULES: readonly Rule[] = [
  { part: "src/domain/", may: [] },
  { part: "src/app.ts", may: ["src/domain/"], mayType: ["src/storage/storage.ts"] },
  { part: "src/auth/", may: ["src/domain/", "packages"], mayType: ["src/storage/storage.ts"] },
  { part: "src/copy/", may: ["src/domain/"], mayType: ["src/storage/storage.ts"] },
  { part: "src/storage/storage.ts", may: [], mayType: ["src/domain/"] },
  { part: "src/storage/rows.ts", may: ["src/domain/"], mayType: ["src/storage/storage.ts"] },
  { part: "src/storage/batch-queue.ts", may: ["src/domain/"], mayType: ["src/storage/storage.ts"] },
  { part: "src/storage/database-url.ts", may: ["node:"] },
  { part: "src/storage/open.ts", may: ["src/storage/"] },
  {
    part: "src/storage/sqlite/",
    may: ["src/domain/", "src/storage/rows.ts", "src/storage/batch-queue.ts", "node:", "bun:sqlite"],
    mayType: ["src/storage/storage.ts"],
  },
  {
    part: "src/storage/postgres/",
    may: ["src/domain/", "src/storage/rows.ts", "src/storage/batch-queue.ts", "bun"],
    mayType: ["src/storage/storage.ts"],
  },
  {
    part: "src/http/",
    may: ["src/domain/", "src/app.ts", "src/web/", "package.json", "node:", "bun:ffi", "packages"],
    mayType: ["src/auth/authenticator.ts"],
  },
  { part: "src/client/", may: ["src/domain/"] },
  { part: "src/files/", may: ["src/domain/", "src/client/", "node:buffer", "packages"] },
  { part: "src/web/", may: ["src/domain/", "src/client/", "src/files/", "packages"] },
  { part: "src/config/", may: ["src/storage/database-url.ts", "node:"] },
  {
    part: "src/observability/",
    may: ["package.json", "packages", "node:"],
    mayType: ["src/http/", "src/storage/storage.ts"],
  },
  {
    part: "src/server/",
    may: [
      "src/domain/",
      "src/app.ts",
      "src/auth/",
      "src/config/",
      "src/http/",
      "src/observability/",
      "src/storage/",
      "node:",
    ],
  },
  { part: "src/cli/", may: EVERYTHING },
  { part: "src/main.ts", may: EVERYTHING },
];

const isWithin = (path: string, part: string): boolean =>
  path === part || (/[/:]$/.test(part) && path.startsWith(part));

interface Import {
  /** A path from the root of the project, or the name of a module. */
  readonly target: string;
  readonly isType: boolean;
}

/** Returns the static, dynamic and re-exported imports of a source file, and the scripts of its threads. */
function importsOf(path: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const statement = /\b(?:(import|export)\s+(type\s)?[^"';]*?\bfrom\s*|import\s*\(?\s*|new URL\(\s*)"([^"]+)"/g;
  return [...code.matchAll(statement)].map(([, , type, name = ""]) => ({
    target: name.startsWith(".") ? relative(ROOT, join(ROOT, dirname(path), name)) : name,
    isType: type !== undefined,
  }));
}

/** Returns the violations in one source file. */
function violationsOf(path: string, text: string): string[] {
  const violations: string[] = [];
  if (path !== "src/config/config.ts" && /\b(?:process|Bun|import\.meta)\s*\.\s*env\b/.test(text))
    violations.push(`${path} reads the environment`);
  const lines = text.split("\n").length - 1;
  if (lines >= MAX_LINES) violations.push(`${path} has ${lines} lines`);
  if (!/\.tsx?$/.test(path)) return violations;
  const rule = RULES.find(({ part }) => isWithin(path, part));
  if (rule === undefined) return [...violations, `${path} belongs to no part`];
  for (const { target, isType } of importsOf(path, text)) {
    const kind = /^(src\/|package\.json$|node:|bun$|bun:)/.test(target) ? target : "packages";
    const allowed = [rule.part, ...rule.may, ...(isType ? (rule.mayType ?? []) : [])];
    if (target === "src/main.ts" || !allowed.some((part) => isWithin(kind, part)))
      violations.push(`${path} imports ${target}`);
  }
  return violations;
}

/** Returns an import cycle, if any. */
function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const done = new Set<string>();
  const visit = (path: string, chain: readonly string[]): string[] | undefined => {
    const start = chain.indexOf(path);
    if (start >= 0) return [...chain.slice(start), path];
    if (done.has(path)) return undefined;
    done.add(path);
    for (const target of imports.get(path) ?? []) {
      const cycle = visit(target, [...chain, path]);
      if (cycle !== undefined) return cycle;
    }
    return undefined;
  };
  for (const path of imports.keys()) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

const files = [...new Bun.Glob("src/**/*.{ts,tsx,css,html}").scanSync(ROOT)].sort();
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

describe("the architecture", () => {
  it("allows every import in src/", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(files.flatMap((path) => violationsOf(path, read(path)))).toEqual([]);
  });

  it("has no rule for a missing file or folder", () => {
    expect(RULES.filter(({ part }) => !files.some((path) => isWithin(path, part)))).toEqual([]);
  });

  it("detects static, dynamic and re-exported imports", () => {
    expect(importsOf("src/server/listeners.ts", read("src/server/listeners.ts")).map(({ target }) => target)).toContain(
      "src/app.ts",
    );
    expect(
      importsOf("src/http/x.ts", 'export {\n  type A,\n  b,\n} from "../app.ts";\nimport "./y.ts"; import("zod");'),
    ).toEqual([
      { target: "src/app.ts", isType: false },
      { target: "src/http/y.ts", isType: false },
      { target: "zod", isType: false },
    ]);
  });

  it("has no import cycle, including type imports", () => {
    const sources = files.filter((path) => /\.tsx?$/.test(path));
    const imports = new Map(sources.map((path) => [path, importsOf(path, read(path)).map(({ target }) => target)]));
    expect(findCycle(imports)).toBeUndefined();
  });

  it("detects an import cycle", () => {
    const imports = new Map([
      ["a.ts", ["b.ts"]],
      ["b.ts", ["c.ts", "d.ts"]],
      ["c.ts", []],
      ["d.ts", ["a.ts"]],
    ]);
    expect(findCycle(imports)).toEqual(["a.ts", "b.ts", "d.ts", "a.ts"]);
  });

  const violating: [path: string, text: string, violation: string][] = [
    ["src/domain/plant.ts", 'import { z } from "zod";', "imports zod"],
    ["src/domain/plant.ts", 'import { readFileSync } from "node:fs";', "imports node:fs"],
    ["src/domain/plant.ts", 'import type { App } from "../app.ts";', "imports src/app.ts"],
    ["src/app.ts", 'import { openStorage } from "./storage/open.ts";', "imports src/storage/open.ts"],
    ["src/app.ts", 'import { x } from "./storage/storage.ts";', "imports src/storage/storage.ts"],
    ["src/auth/tokens.ts", 'import { json } from "../http/call.ts";', "imports src/http/call.ts"],
    ["src/http/plants.ts", 'import type { Storage } from "../storage/storage.ts";', "imports src/storage/storage.ts"],
    [
      "src/http/plants.ts",
      'export { x } from "../storage/sqlite/storage.ts";',
      "imports src/storage/sqlite/storage.ts",
    ],
    ["src/http/plants.ts", 'const x = await import("../storage/open.ts");', "imports src/storage/open.ts"],
    ["src/storage/sqlite/writer.ts", 'import { App } from "../../app.ts";', "imports src/app.ts"],
    ["src/storage/sqlite/writer.ts", 'import "../postgres/storage.ts";', "imports src/storage/postgres/storage.ts"],
    ["src/storage/sqlite/writer.ts", 'import postgres from "postgres";', "imports postgres"],
    ["src/client/client.ts", 'import { readConfig } from "../config/config.ts";', "imports src/config/config.ts"],
    ["src/server/serve.ts", 'import { command } from "../cli/command.ts";', "imports src/cli/command.ts"],
    ["src/cli/serve.ts", 'import "../main.ts";', "imports src/main.ts"],
    ["src/http/server.ts", "const port = process.env.PORT;", "reads the environment"],
    ["src/other/new.ts", "", "belongs to no part"],
    ["src/app.ts", "\n".repeat(MAX_LINES), `has ${MAX_LINES} lines`],
  ];
  for (const [path, text, violation] of violating) {
    it(`detects that ${path} ${violation}${text.startsWith("import type") ? " for a type" : ""}`, () => {
      expect(violationsOf(path, text)).toEqual([`${path} ${violation}`]);
    });
  }
});
