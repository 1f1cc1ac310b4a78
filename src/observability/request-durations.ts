/** Upper bounds of the buckets of a duration in seconds. */
export const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** The observations of one operation and status. */
interface Series {
  readonly labels: { readonly operation: string; readonly status: number };
  /** By bucket, not cumulative. */
  readonly counts: number[];
  count: number;
  sum: number;
}

/**
 * The histogram of request durations, for a registry of prom-client. The histograms of prom-client take 0.4 to 0.7 µs
 * longer for each observation with labels (measured 2026-11).
 */
export class RequestDurations {
  readonly name = "plantstore_http_request_duration_seconds";
  readonly #series = new Map<string, Series>();

  observe(operation: string, status: number, seconds: number): void {
    const key = `${operation} ${status}`;
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { labels: { operation, status }, counts: DURATION_BUCKETS.map(() => 0), count: 0, sum: 0 };
      this.#series.set(key, series);
    }
    series.count++;
    series.sum += seconds;
    const bucket = DURATION_BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) series.counts[bucket] = (series.counts[bucket] as number) + 1;
  }

  /** Called by the registry at each collection. */
  async get() {
    const help = "Time from receiving a request to the start of its response.";
    const values = [...this.#series.values()].flatMap((series) => this.#valuesOf(series));
    return { name: this.name, help, type: "histogram", values };
  }

  #valuesOf({ labels, counts, count, sum }: Series) {
    const bucket = `${this.name}_bucket`;
    let total = 0;
    const buckets = DURATION_BUCKETS.map((le, index) => {
      total += counts[index] as number;
      return { metricName: bucket, labels: { ...labels, le }, value: total };
    });
    return [
      ...buckets,
      { metricName: bucket, labels: { ...labels, le: "+Inf" }, value: count },
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ];
  }
}
