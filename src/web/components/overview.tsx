import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatCount, tagLabel } from "../format.ts";
import { countPlants, countProgress, tagCounts } from "../state/tag-counts.ts";
import { Button, EmptyState, Link, Statistics, Table } from "./primitives.tsx";

/** Tags in the table; the others share one more row. */
const TABLE_LIMIT = 100;

/** The number of plants, in total and by tag. */
export function Overview() {
  const refreshes = useSignal(0);
  useEffect(() => {
    const controller = new AbortController();
    countPlants(controller.signal);
    return () => controller.abort();
  }, [refreshes.value]);
  const { status, total, error } = countProgress.value;
  const shares = [...tagCounts.value].map(([tag, count]) => ({ tag, label: tagLabel(tag), value: count }));
  shares.sort((a, b) => b.value - a.value);
  return (
    <>
      <div class="title row">
        <h1>Overview</h1>
        <p class="muted grow" role="status">
          {status === "counting" && "Counting…"}
        </p>
        <Button icon="refresh" class="secondary" onClick={() => refreshes.value++}>
          Refresh
        </Button>
      </div>
      {status === "failed" && (
        <EmptyState title="The plants could not be counted" isError>
          {error}
        </EmptyState>
      )}
      <Statistics
        values={{
          [status === "done" ? "plants" : "plants so far"]: total,
          tags: tagCounts.value.size - (tagCounts.value.has(undefined) ? 1 : 0),
          "no tag": tagCounts.value.get(undefined) ?? 0,
        }}
      />
      {total > 0 && <TagTable shares={topShares(shares, TABLE_LIMIT)} total={total} />}
    </>
  );
}

/** The number of plants with a tag, without a tag, or with any of the remaining tags. */
interface Share {
  readonly tag?: string | undefined;
  readonly label: string;
  readonly value: number;
}

/** Returns the largest shares, and the sum of the others as one more share. */
function topShares(shares: readonly Share[], limit: number): Share[] {
  if (shares.length <= limit + 1) return [...shares];
  const others = shares.slice(limit);
  const value = others.reduce((sum, share) => sum + share.value, 0);
  return [...shares.slice(0, limit), { label: formatCount(others.length, "other"), value }];
}

/** A table with a bar below each tag, as wide as its number of plants. */
function TagTable({ shares, total }: { shares: readonly Share[]; total: number }) {
  const largest = Math.max(...shares.map(({ value }) => value));
  return (
    <section class="card">
      <h2>Plants by tag</h2>
      <Table
        caption="Plants by tag"
        columns={["Tag", "Plants", "%"]}
        rows={shares.map(({ tag, label, value }) => [
          <>
            {tag === undefined ? <bdi>{label}</bdi> : <Link to={{ view: "plants", tag }}>{label}</Link>}
            <div class="share" style={{ width: `${(100 * value) / largest}%` }} />
          </>,
          value,
          Math.round((1_000 * value) / total) / 10,
        ])}
      />
    </section>
  );
}
