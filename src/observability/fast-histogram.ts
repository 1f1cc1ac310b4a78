/** The counts of one operation and status. */
interface Series {
  readonly labels: { readonly operation: string; readonly status: number };
  /** Observations by bucket, not cumulative. */
  readonly counts: number[];
  count: number;
  sum: number;
}

/**
 * A histogram by operation and status for a registry of prom-client. It replaces prom-client's own, which takes 0.4 to
 * 0.7 µs longer for each request (measured 2026-11).
 */
export class FastHistogram {
  readonly name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  /** `bounds` are the upper bounds of the buckets, in ascending order. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  observe(operation: string, status: number, value: number): void {
    const key = `${operation} ${status}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels: { operation, status }, counts: this.#bounds.map(() => 0), count: 0, sum: 0 };
      this.#series.set(key, series);
    }
    series.count++;
    series.sum += value;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] as number) + 1;
  }

  /** Called by the registry at each collection. */
  async get() {
    const values = [...this.#series.values()].flatMap((series) => this.#valuesOf(series));
    return { name: this.name, help: this.#help, type: "histogram", values };
  }

  #valuesOf({ labels, counts, count, sum }: Series) {
    let total = 0;
    const buckets = this.#bounds.map((le, index) => {
      total += counts[index] as number;
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${this.name}_bucket`, labels: { ...labels, le: "+Inf" }, value: count },
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
