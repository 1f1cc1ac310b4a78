import { afterAll, beforeAll, describe, expect, it } from "bun:test";
import { join } from "node:path";
import type { SyntaxNodeRef } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";
import { namesOf, SETTINGS, variableOf } from "../../src/config/settings.ts";
import { DATABASES, type TestDatabase } from "../support/engines.ts";
import { createToken, fetchMetrics, type ServerProcess, startServerProcess } from "../support/program.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dir, "../..");
const read = (path: string) => Bun.file(join(root, path)).text();
const page = await read("docs/operations.md");

/** Series that Prometheus itself generates. */
const PROMETHEUS_SERIES = ["up"];

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

/** Returns the first cell of each row of the table under a heading of the page. */
function firstCells(heading: string): string[] {
  const [, section = ""] = new RegExp(`^## ${heading}\n([^]*?)(?=^## |$(?![^]))`, "m").exec(page) ?? [];
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, cell]) => cell ?? "");
}

/** Returns the series that an expression reads. Throws if it is not valid PromQL. */
function seriesOf(expression: string): string[] {
  const text = expression.replaceAll("$__rate_interval", "5m").replaceAll("$instance", "a");
  const names: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }: SyntaxNodeRef) {
      if (type.isError) throw new Error(`invalid PromQL at "${text.slice(from)}" of ${text}`);
      if (type.name === "VectorSelector") names.push(/^\w*/.exec(text.slice(from, to))?.[0] ?? "");
    },
  });
  return names;
}

describe.each(DATABASES)("a server on %s", (engine, newDatabase) => {
  let database: TestDatabase;
  let server: ServerProcess;
  let metrics: string;
  beforeAll(async () => {
    database = await newDatabase();
    const token = await createToken(database.url, "ann");
    server = await startServerProcess(["--database", database.url]);
    for (const id of [1, 2, 3]) {
      const response = await fetch(`${server.url}/plants`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ id, name: "Fern" }),
      });
      expect(response.status).toBe(200);
    }
    // The size of a PostgreSQL database is queried in the background.
    metrics = await until(
      () => fetchMetrics(server),
      (text) => text.includes("plantstore_storage_bytes{"),
    );
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  const value = (series: string) => {
    const line = metrics.split("\n").find((each) => each.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length));
  };

  it("exports the number, size and commit time of write batches", () => {
    expect(value("plantstore_write_batch_size_sum")).toBeGreaterThanOrEqual(3);
    expect(value("plantstore_write_batch_size_count")).toBeGreaterThanOrEqual(3);
    expect(value("plantstore_commit_duration_seconds_sum")).toBeGreaterThan(0);
    expect(value("plantstore_writes_queued")).toBe(0);
  });

  it("exports the size of the database and its connections", () => {
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

  it("exports backup counters that start at 0, so that the first failure is an increase", () => {
    expect(value('plantstore_backups_total{outcome="failed"}')).toBe(0);
  });

  it("exports every documented metric, and documents every exported metric of Plant Store", () => {
    const exported = [...metrics.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name ?? "");
    const documented = firstCells("Metrics");
    expect(documented.filter((name) => !exported.includes(name))).toEqual([]);
    expect(exported.filter((name) => name.startsWith("plantstore_") && !documented.includes(name))).toEqual([]);
  });

  it.each([
    ["alert", rules.map(({ alert, expr }): [string, string] => [alert, expr])],
    ["panel", panels.flatMap(({ title, targets }) => targets.map(({ expr }): [string, string] => [title, expr]))],
  ])("exports every metric that the %ss use", (_, queries) => {
    const exported = new Set(
      [...metrics.matchAll(/^# TYPE (\w+) (\w+)/gm)].flatMap(([, name = "", type = ""]) => {
        return type === "histogram" ? ["_bucket", "_sum", "_count"].map((end) => name + end) : [name];
      }),
    );
    expect(queries.length).toBeGreaterThan(10);
    for (const [name, expr] of queries) {
      const series = seriesOf(expr);
      expect(`${name}: ${series.length > 0}`).toBe(`${name}: true`);
      expect(series.filter((each) => !exported.has(each) && !PROMETHEUS_SERIES.includes(each))).toEqual([]);
    }
  });
});

describe("the alerts", () => {
  it("are all documented, in the same order", () => {
    expect(firstCells("Alerts")).toEqual(rules.map(({ alert }) => alert));
  });

  it("have a severity and a summary", () => {
    for (const { labels, annotations } of rules) {
      expect(labels.severity).toMatch(/^(?:critical|warning|info)$/);
      expect(annotations.summary).not.toBe("");
    }
  });

  it("are checked by a parser that rejects invalid PromQL", () => {
    expect(() => seriesOf("sum by (instance (rate(up[5m]))")).toThrow("invalid PromQL");
  });
});

describe("the dashboard", () => {
  it("has panels with unique ids and without overlap", () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)},${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });
});

describe("the deployment files", () => {
  it.each(["deploy/plantstore.service", "deploy/Containerfile"])("use only existing settings: %s", async (path) => {
    const used = [...(await read(path)).matchAll(/PLANTSTORE_[A-Z_]+/g)].map(([name]) => name);
    const existing: string[] = namesOf(SETTINGS).map(variableOf);
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((name) => !existing.includes(name))).toEqual([]);
  });
});
