import { describe, expect, it } from "bun:test";
import { join } from "node:path";
import { compareWithLimits, compareWithPeers } from "../../bench/comparison.ts";
import { ascendingIds, type Ids, scatteredIds, seededIds } from "../../bench/load/ids.ts";
import type { Job, OpenLoopResult } from "../../bench/load/open-loop.ts";
import { ResponseReader } from "../../bench/load/responses.ts";
import { replaceBetween } from "../../bench/report/markers.ts";
import type { Measurement, Metric, Role, Target } from "../../bench/scenario.ts";
import { median, percentile } from "../../bench/statistics.ts";
import { track } from "../support/program.ts";

describe("benchmark statistics", () => {
  it("return the median of unsorted values", () => {
    expect([median([3, 1, 2]), median([4, 1, 3, 2]), median([7])]).toEqual([2, 2.5, 7]);
    expect(median([])).toBeNaN();
  });

  it("return percentiles by the nearest-rank method", () => {
    const values = Array.from({ length: 1_000 }, (_, index) => index + 1);
    expect([0, 0.5, 0.99, 0.9901, 1].map((share) => percentile(values, share))).toEqual([1, 500, 990, 991, 1_000]);
    expect(percentile([], 0.5)).toBeNaN();
  });
});

describe("ResponseReader", () => {
  const bytes = Buffer.from(
    "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n[\r\n\r\n]" +
      "HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n" +
      "HTTP/1.1 401 Unauthorized\r\nContent-Length:2\r\nContent-Type: text/plain\r\n\r\nno",
  );

  it("finds each response in chunks of any size", () => {
    for (let size = 1; size <= bytes.length; size++) {
      const statuses: number[] = [];
      const reader = new ResponseReader((status) => statuses.push(status));
      for (let start = 0; start < bytes.length; start += size) reader.push(bytes.subarray(start, start + size));
      expect(statuses).toEqual([200, 204, 401]);
    }
  });

  it("waits for an incomplete body", () => {
    const statuses: number[] = [];
    const reader = new ResponseReader((status) => statuses.push(status));
    reader.push(Buffer.from("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"));
    expect(statuses).toEqual([]);
    reader.push(Buffer.from("c"));
    expect(statuses).toEqual([200]);
  });
});

describe("the open loop", () => {
  /** Sends 200 requests to a server. `respond` returns the response for the number of a request. */
  async function run(respond: (number: number) => Response): Promise<OpenLoopResult> {
    let number = 0;
    await using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => respond(number++) });
    const job: Job = {
      ...{ hostname: "127.0.0.1", port: Number(server.port), status: 200, ids: ascendingIds(0) },
      ...{ perSecond: 2_000, seconds: 0.1, connections: 4, isPrecise: false },
      head: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    };
    const script = join(import.meta.dir, "../../bench/load/open-loop.ts");
    const child = track(Bun.spawn([process.execPath, script, JSON.stringify(job)], { stdout: "pipe" }));
    return JSON.parse(await new Response(child.stdout).text()) as OpenLoopResult;
  }

  it("counts responses with an unexpected status as errors, and returns ascending percentiles", async () => {
    const paced = await run((number) => new Response("text", { status: number % 4 === 0 ? 500 : 200 }));
    expect(paced.errors).toBe(50);
    const times = paced.percentiles.map(({ ms }) => ms);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("counts requests without a response as errors", async () => {
    const close = { headers: { Connection: "close" } };
    const paced = await run((number) => new Response("text", number < 100 ? {} : close));
    expect(paced.errors).toBe(96);
  });
});

describe("benchmark ids", () => {
  const PLANTS = 2_000;
  const take = ({ from, offset, step, span }: Ids, count: number): number[] =>
    Array.from({ length: count }, (_, index) => from + ((offset + (index + 1) * step) % span));
  const seeds = new Set(take(seededIds(0, PLANTS), PLANTS));

  it("are unique and unused when plants are created", () => {
    const loads = [take(scatteredIds(PLANTS, 0), 50_000), take(ascendingIds(0), 1_000), take(ascendingIds(1), 1_000)];
    const ids = loads.flat();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => seeds.has(id))).toEqual([]);
  });

  it("are those of existing plants when plants are deleted", () => {
    expect(seeds.size).toBe(PLANTS);
    expect(take(seededIds(100, 50), 50).filter((id) => !seeds.has(id))).toEqual([]);
  });

  it("have 11 digits, because the Content-Length is constant", () => {
    for (const ids of [seededIds(0, 10), scatteredIds(10_000_000, 3), ascendingIds(4_000)]) {
      expect(take(ids, 5).map((id) => String(id).length)).toEqual([11, 11, 11, 11, 11]);
    }
  });
});

describe("the comparison of benchmark results", () => {
  const measured = (server: string, role: Role, ...rounds: number[]): Measurement => ({
    server,
    role,
    rounds,
    errors: 0,
  });
  const metric = (targets: readonly Target[], ...measurements: Measurement[]): Metric => ({
    what: "create",
    unit: "/s",
    targets,
    measurements,
  });
  const own = measured("Plant Store", "product", 40, 50, 60);

  it("compares the medians with the limit", () => {
    const limit = measured("nginx", "limit", 90, 100, 500);
    const compare = (atLeast: number) => compareWithLimits(metric([{ atLeast, of: "nginx" }], own, limit))[0];
    expect(compare(0.5)).toMatchObject({ ratio: 0.5, isMet: true });
    expect(compare(0.51)).toMatchObject({ ratio: 0.5, isMet: false });
  });

  it("compares with an absolute limit", () => {
    const isMet = (target: Target) => compareWithLimits(metric([target], own)).map((each) => each.isMet);
    expect([isMet({ atMost: 50 }), isMet({ atMost: 49 }), isMet({ atLeast: 50 })]).toEqual([[true], [false], [true]]);
  });

  it("requires a better result than each peer, and skips missing peers", () => {
    const missing = { ...measured("b", "peer"), missing: "not installed" };
    const compared = compareWithPeers(
      metric([{ atLeast: 5, of: "c" }], own, measured("a", "peer", 51), missing, measured("c", "peer", 10)),
    );
    expect(compared.map(({ isMet }) => isMet)).toEqual([false, undefined, true]);
  });
});

describe("replaceBetween", () => {
  it("replaces only the text between the markers", () => {
    const page = "# Title\n\n<!-- bench -->\nold\n<!-- /bench -->\n\n## By hand\n";
    const replaced = replaceBetween(page, "bench", "new $& text\n");
    expect(replaced).toBe("# Title\n\n<!-- bench -->\n\nnew $& text\n\n<!-- /bench -->\n\n## By hand\n");
    expect(replaceBetween(replaced, "bench", "new $& text")).toBe(replaced);
  });

  it("throws unless the page has each marker once, in order", () => {
    for (const page of [
      "",
      "<!-- bench -->",
      "<!-- /bench --><!-- bench -->",
      "<!-- bench --><!-- /bench -->".repeat(2),
    ]) {
      expect(() => replaceBetween(page, "bench", "new")).toThrow("the page must have <!-- bench -->");
    }
  });
});
