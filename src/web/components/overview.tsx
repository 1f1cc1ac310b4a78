import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, tagText } from "../format.ts";
import { counting, countPlants, tally } from "../state/tag-counts.ts";
import { Action, Blank, Link, Table } from "./primitives.tsx";

/** Bars of the chart; what is beyond them is one bar more. */
const BARS = 10;
/** Rows of the table, likewise. */
const ROWS = 100;

/** The whole at a glance: how many plants there are, and what they are. */
export function Overview() {
  const round = useSignal(0);
  useEffect(() => {
    const stop = new AbortController();
    countPlants(stop.signal);
    return () => stop.abort();
  }, [round.value]);
  const { status, total, fault } = counting.value;
  const shares = [...tally.value].map(([tag, value]) => ({ tag, label: tagText(tag), value }));
  shares.sort((a, b) => b.value - a.value);
  return (
    <>
      <div class="title row">
        <h1>Overview</h1>
        <p class="soft grow" role="status">
          {status === "counting" && "Counting…"}
        </p>
        <Action icon="refresh" class="quiet" onClick={() => round.value++}>
          Count again
        </Action>
      </div>
      {status === "failed" && (
        <Blank title="The plants could not be counted" isFault>
          {fault}
        </Blank>
      )}
      <Figures
        figures={{
          [status === "done" ? "plants" : "plants so far"]: total,
          tags: tally.value.size - (tally.value.has(undefined) ? 1 : 0),
          "no tag": tally.value.get(undefined) ?? 0,
        }}
      />
      {total > 0 && <Chart bars={cut(shares, BARS)} />}
      {total > 0 && <Tags shares={cut(shares, ROWS)} total={total} />}
    </>
  );
}

/** Numbers to be read from afar, by what they count. */
export const Figures = ({ figures }: { figures: Readonly<Record<string, number>> }) => (
  <dl class="figures">
    {Object.entries(figures).map(([name, value]) => (
      <div key={name} class="card">
        <dd>{value.toLocaleString("en")}</dd>
        <dt class="small soft">{name}</dt>
      </div>
    ))}
  </dl>
);

/** How many plants have a tag, have none, or have one of the others. */
interface Share {
  readonly tag?: string | undefined;
  readonly label: string;
  readonly value: number;
}

/** The largest shares, and what the others come to. */
function cut(shares: readonly Share[], length: number): Share[] {
  if (shares.length <= length + 1) return [...shares];
  const others = shares.slice(length);
  const value = others.reduce((sum, share) => sum + share.value, 0);
  return [...shares.slice(0, length), { label: count(others.length, "other"), value }];
}

/** The chart is loaded when it is looked at. */
function Chart({ bars }: { bars: readonly Share[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isGone = false;
    let remove: (() => void) | undefined;
    const draw = ({ drawBars }: typeof import("./chart.ts")) => {
      if (canvas.current !== null && !isGone) remove = drawBars(canvas.current, bars);
    };
    // Without the chart there is still the table.
    import("./chart.ts").then(draw, () => {});
    return () => {
      isGone = true;
      remove?.();
    };
  }, [bars]);
  return (
    <section class="card">
      <h2>Plants by tag</h2>
      <div style={{ height: `${bars.length * 36 + 8}px` }}>
        <canvas ref={canvas} role="img" aria-label="A bar for each of the most frequent tags, as in the table below" />
      </div>
    </section>
  );
}

/** The same in numbers, and in full; every tag leads to its plants. */
const Tags = ({ shares, total }: { shares: readonly Share[]; total: number }) => (
  <section class="card">
    <Table
      caption="Plants by tag"
      columns={["Tag", "Plants", "%"]}
      rows={shares.map(({ tag, label, value }) => [
        tag === undefined ? <bdi>{label}</bdi> : <Link to={{ view: "plants", tag }}>{label}</Link>,
        value,
        Math.round((1_000 * value) / total) / 10,
      ])}
    />
  </section>
);
