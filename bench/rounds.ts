import type { Ids } from "./load/ids.ts";
import type { OpenLoopResult } from "./load/open-loop.ts";
import { type LoadResult, runWrk } from "./load/wrk.ts";
import type { Cores } from "./processes.ts";
import type { Measurement, Metric, Role, RunSettings } from "./scenario.ts";
import type { ServerGroup } from "./server-group.ts";
import { probe } from "./servers/exchange.ts";
import type { ExchangeName } from "./servers/limits.ts";
import type { Server } from "./servers/server.ts";
import { median } from "./statistics.ts";

export interface ThroughputOptions extends Pick<Metric, "what" | "targets"> {
  readonly settings: RunSettings;
  /** Sent in rotation. Servers that lack one of them are skipped. */
  readonly requests: readonly ExchangeName[];
  readonly connections: number;
  /** Ids for the requests of a round. */
  readonly ids?: (round: number) => Ids;
  readonly cores?: Cores;
  /** Systems to measure in addition to the servers. */
  readonly additional?: readonly SystemUnderTest[];
}

/** A system that is measured once per round. */
export interface SystemUnderTest {
  readonly name: string;
  readonly role: Role;
  measure(round: number): Promise<LoadResult>;
}

/** Measures the responses per second of each server. */
export async function measureThroughput(
  { servers, missing }: ServerGroup,
  options: ThroughputOptions,
): Promise<Metric> {
  const { what, targets, settings, requests, additional = [] } = options;
  const supporting = servers.filter(({ exchanges }) => requests.every((name) => exchanges[name]));
  for (const server of supporting) await probeAll(server, requests);
  const systems = [...supporting.map((server) => toSystem(server, options)), ...additional];
  return { what, unit: "/s", targets, measurements: [...(await measureInterleaved(systems, settings)), ...missing] };
}

/** Measures every system once per round, so that drift of the machine affects all equally. The first round is a warm-up. */
export async function measureInterleaved(
  systems: readonly SystemUnderTest[],
  { rounds }: RunSettings,
): Promise<Measurement[]> {
  const results = systems.map((): LoadResult[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, system] of systems.entries()) {
      const result = await system.measure(round);
      if (round > 0) results[index]?.push(result);
    }
  }
  return systems.map((system, index) => toMeasurement(system, results[index] ?? []));
}

const toSystem = (
  server: Server,
  { settings, requests, connections, ids, cores }: ThroughputOptions,
): SystemUnderTest => ({
  name: server.name,
  role: server.role,
  measure: (round) =>
    runWrk(server, {
      exchanges: requests.map((name) => server.exchanges[name]).filter((exchange) => exchange !== undefined),
      connections,
      seconds: settings.seconds,
      ...(ids === undefined ? {} : { ids: ids(round) }),
      ...(cores === undefined ? {} : { cores }),
    }),
});

/**
 * Sends each kind of request once and checks status and body.
 * @throws Error on an unexpected response
 */
export async function probeAll(server: Server, requests: readonly ExchangeName[]): Promise<void> {
  for (const name of new Set(requests)) {
    const exchange = server.exchanges[name];
    if (exchange === undefined) continue;
    await probe(server.url, exchange).catch((error: Error) => {
      throw new Error(`unexpected response of ${server.name}: ${error.message}`);
    });
  }
}

/** Summarizes the rounds of one system. */
export function toMeasurement(
  { name, role }: Pick<SystemUnderTest, "name" | "role">,
  results: readonly LoadResult[],
): Measurement {
  const medians = (["p50Ms", "p99Ms", "busy"] as const).flatMap((field) => {
    const values = results.map((result) => result[field]).filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[field, roundTo(median(values), 3)]];
  });
  return {
    server: name,
    role,
    rounds: results.map(({ perSecond }) => roundTo(perSecond, 1)),
    errors: results.reduce((sum, { errors }) => sum + errors, 0),
    ...Object.fromEntries(medians),
  };
}

/** Summarizes the open-loop rounds of one system; `rounds` has the p99 of each. */
export function toLatencyMeasurement(
  { name, role }: Pick<SystemUnderTest, "name" | "role">,
  results: readonly OpenLoopResult[],
): Measurement {
  const shares = results[0]?.percentiles.map(({ share }) => share) ?? [];
  const msOf = (result: OpenLoopResult, share: number) =>
    result.percentiles.find((each) => each.share === share)?.ms ?? Number.NaN;
  return {
    server: name,
    role,
    rounds: results.map((result) => roundTo(msOf(result, 0.99), 3)),
    errors: results.reduce((sum, { errors }) => sum + errors, 0),
    lateP99Ms: roundTo(median(results.map(({ lateP99Ms }) => lateP99Ms)), 3),
    percentiles: shares.map((share) => ({
      share,
      ms: roundTo(median(results.map((result) => msOf(result, share))), 3),
    })),
  };
}

/** Rounds to this number of decimal places. */
export const roundTo = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;
