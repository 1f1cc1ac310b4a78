import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { formatCount, tagLabel } from "../format.ts";
import { longTaskClient } from "../state/session.ts";
import { useAction } from "./hooks.ts";
import { Button, EmptyState, Link, Statistics, Table } from "./primitives.tsx";

/** Tags in the table; the others share one more row. */
const TABLE_LIMIT = 100;
/** Plants per request, and between two updates of the view. */
const PAGE_LENGTH = 5_000;

/** The number of plants per tag; the key `undefined` is for plants without a tag. */
type TagCounts = ReadonlyMap<string | undefined, number>;

/** The number of plants, in total and by tag. */
export function Overview() {
  const counts = useSignal<TagCounts>(new Map());
  const { isBusy, error, run } = useAction();
  const refresh = () =>
    run(async (signal) => {
      for await (const next of countTags(signal)) counts.value = next;
    });
  useSignalEffect(() => {
    refresh();
  });
  const total = sum(counts.value);
  return (
    <>
      <div class="title row">
        <h1>Overview</h1>
        <p class="muted grow" role="status">
          {isBusy.value && "Counting…"}
        </p>
        <Button icon="refresh" class="secondary" onClick={refresh}>
          Refresh
        </Button>
      </div>
      {error.value !== "" && (
        <EmptyState title="The plants could not be counted" isError>
          {error}
        </EmptyState>
      )}
      <section class="card">
        <Statistics
          values={{
            [isBusy.value || error.value !== "" ? "plants so far" : "plants"]: total,
            tags: counts.value.size - (counts.value.has(undefined) ? 1 : 0),
            "no tag": counts.value.get(undefined) ?? 0,
          }}
        />
      </section>
      {total > 0 && <TagTable counts={counts.value} total={total} />}
    </>
  );
}

/** Counts all plants by tag; yields the running counts. */
async function* countTags(signal: AbortSignal): AsyncGenerator<TagCounts, void> {
  const counts = new Map<string | undefined, number>();
  let total = 0;
  for await (const { tag } of longTaskClient().listPlants({ limit: PAGE_LENGTH, signal })) {
    if (total++ % PAGE_LENGTH === 0) yield new Map(counts);
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  yield counts;
}

/** A table with a bar below each tag, as wide as its number of plants. */
function TagTable({ counts, total }: { counts: TagCounts; total: number }) {
  const entries = [...counts].sort(([, a], [, b]) => b - a);
  const largest = entries[0]?.[1] ?? 0;
  const others = entries.splice(TABLE_LIMIT);
  const toRow = (label: ComponentChildren, count: number) => [
    <>
      {label}
      <div class="share" style={{ width: `${(100 * count) / largest}%` }} />
    </>,
    count,
    Math.round((1_000 * count) / total) / 10,
  ];
  const rows = entries.map(([tag, count]) =>
    toRow(tag === undefined ? <bdi>no tag</bdi> : <Link to={{ view: "plants", tag }}>{tagLabel(tag)}</Link>, count),
  );
  if (others.length > 0) rows.push(toRow(formatCount(others.length, "other"), sum(others)));
  return (
    <section class="card">
      <h2>Plants by tag</h2>
      <Table label="Plants by tag" columns={["Tag", "Plants", "%"]} rows={rows} />
    </section>
  );
}

const sum = (entries: Iterable<readonly [unknown, number]>): number =>
  [...entries].reduce((total, [, count]) => total + count, 0);
