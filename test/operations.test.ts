import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { join } from "node:path";
import type { SyntaxNodeRef } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";
import { SETTINGS } from "../src/config.ts";
import { DATABASES, type TestDatabase } from "./support/engines.ts";
import { createToken, figuresOf, type Program, startProgram } from "./support/program.ts";
import { until } from "./support/until.ts";

const root = join(import.meta.dir, "..");
const read = (path: string) => Bun.file(join(root, path)).text();
const page = await read("docs/operations.md");

/** Series that Prometheus makes by itself. */
const OWN_SERIES = ["up"];

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string }[];
}

const { groups } = Bun.YAML.parse(await read("deploy/alerts.yaml")) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const { panels } = JSON.parse(await read("deploy/grafana.json")) as { panels: Panel[] };

/** The first cells of a table's rows, the table being the one under a heading of the page. */
function firstCells(heading: string): string[] {
  const [, section = ""] = new RegExp(`^## ${heading}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(page) ?? [];
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => cell ?? "");
}

/** The series that an expression reads; throws when it is none. */
function seriesOf(expression: string): string[] {
  const text = expression.replaceAll("$__rate_interval", "5m").replaceAll("$instance", "a");
  const names: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }: SyntaxNodeRef) {
      if (type.isError) throw new Error(`no PromQL at "${text.slice(from)}" of ${text}`);
      if (type.name === "VectorSelector") names.push(/^\w*/.exec(text.slice(from, to))?.[0] ?? "");
    },
  });
  return names;
}

describe.each(DATABASES)("a server on %s", (engine, newDatabase) => {
  let database: TestDatabase;
  let program: Program;
  let figures: string;
  beforeAll(async () => {
    database = await newDatabase();
    const token = await createToken(database.url, "ann");
    program = await startProgram(["--database", database.url]);
    for (const id of [1, 2, 3]) {
      const answer = await fetch(`${program.url}/plants`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ id, name: "Fern" }),
      });
      expect(answer.status).toBe(200);
    }
    // PostgreSQL is asked for its size, and not waited for.
    figures = await until(
      () => figuresOf(program),
      (text) => text.includes("plantstore_storage_bytes{"),
    );
  });
  afterAll(async () => {
    await program.stop();
    await database.drop();
  });

  const value = (series: string) => {
    const line = figures.split("\n").find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };

  it("counts the groups of writes, and how long each took to be on disk", () => {
    expect(value("plantstore_write_group_size_sum")).toBeGreaterThanOrEqual(3);
    expect(value("plantstore_write_group_size_count")).toBeGreaterThanOrEqual(3);
    expect(value("plantstore_commit_duration_seconds_sum")).toBeGreaterThan(0);
    expect(value("plantstore_writes_waiting")).toBe(0);
  });

  it("tells what the database takes, and what holds it", () => {
    expect(value('plantstore_storage_bytes{part="database"}')).toBeGreaterThan(4_096);
    const wal = value('plantstore_storage_bytes{part="wal"}');
    const idle = value('plantstore_database_connections{state="idle"}');
    if (engine === "SQLite") {
      expect(wal).toBeGreaterThan(4_096);
      expect(idle).toBeUndefined();
    } else {
      expect(wal).toBeUndefined();
      expect(idle).toBeGreaterThan(0);
    }
  });

  it("counts regular backups from 0 on, so that the first that fails is an increase", () => {
    expect(value('plantstore_backups_total{outcome="failed"}')).toBe(0);
  });

  it("shows every figure that the page explains, and explains all of its own", () => {
    const shown = [...figures.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? "");
    const explained = firstCells("Metrics");
    expect(explained.filter((name) => !shown.includes(name))).toEqual([]);
    expect(shown.filter((name) => name.startsWith("plantstore_") && !explained.includes(name))).toEqual([]);
  });

  it.each([
    ["alert", rules.map(({ alert, expr }): [string, string] => [alert, expr])],
    ["panel", panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr]))],
  ])("has every figure that an %s asks for", (_, asked) => {
    const shown = new Set(
      [...figures.matchAll(/^# TYPE (\w+) (\w+)/gm)].flatMap(([, name = "", type = ""]) => {
        return type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
      }),
    );
    expect(asked.length).toBeGreaterThan(10);
    for (const [name, expr] of asked) {
      const series = seriesOf(expr);
      expect(`${name}: ${series.length > 0}`).toBe(`${name}: true`);
      expect(series.filter((each) => !shown.has(each) && !OWN_SERIES.includes(each))).toEqual([]);
    }
  });
});

describe("the alerts", () => {
  it("are each explained on the page, with what to do", () => {
    expect(firstCells("Alerts")).toEqual(rules.map(({ alert }) => alert));
  });

  it("say how bad it is, and what it is", () => {
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(?:critical|warning|info)$/);
      expect(annotations.summary).not.toBe("");
    }
  });

  it("are no PromQL when they are not", () => {
    expect(() => seriesOf("sum by (instance (rate(up[5m]))")).toThrow("no PromQL");
  });
});

describe("the dashboard", () => {
  it("gives each panel an id and a place of its own", () => {
    const taken = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(taken).size).toBe(taken.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

describe("the recipes", () => {
  it.each(["deploy/plantstore.service", "deploy/Containerfile"])(
    "name only settings that there are: %s",
    async (path) => {
      const named = [...(await read(path)).matchAll(/PLANTSTORE_[A-Z_]+/g)].map(([name]) => name);
      const known: string[] = Object.values(SETTINGS).map(({ variable }) => variable);
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !known.includes(name))).toEqual([]);
    },
  );
});
