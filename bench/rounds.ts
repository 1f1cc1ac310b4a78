import type { LineUp } from "./line-up.ts";
import type { Ids } from "./load/ids.ts";
import type { Paced } from "./load/open-loop.ts";
import { type Load, load } from "./load/wrk.ts";
import type { Cores } from "./processes.ts";
import type { Depth, Figure, Measurement, Role } from "./scenario.ts";
import { probe } from "./servers/exchange.ts";
import type { ExchangeName } from "./servers/limits.ts";
import type { Server } from "./servers/server.ts";
import { median } from "./statistics.ts";

/** What a figure of answers a second is made of. */
export interface Throughput extends Pick<Figure, "what" | "targets"> {
  readonly depth: Depth;
  /** Asked in turn. Servers that do not know one of them are left out. */
  readonly asks: readonly ExchangeName[];
  readonly connections: number;
  /** The ids of a round, where the requests have any. */
  readonly ids?: (round: number) => Ids;
  readonly cores?: Cores;
  /** Measured with the servers, in their turn. */
  readonly beside?: readonly Subject[];
}

/** What takes its turn in every round. */
export interface Subject {
  readonly name: string;
  readonly role: Role;
  measure(round: number): Promise<Load>;
}

/** Answers a second of each server. */
export async function throughput({ servers, missing }: LineUp, options: Throughput): Promise<Figure> {
  const { what, targets, depth, asks, beside = [] } = options;
  const able = servers.filter(({ exchanges }) => asks.every((ask) => exchanges[ask]));
  for (const server of able) await probeAll(server, asks);
  const subjects = [...able.map((server) => toSubject(server, options)), ...beside];
  return { what, unit: "/s", targets, measurements: [...(await measure(subjects, depth)), ...missing] };
}

/** Measures each in turn, so that a drift of the machine meets all alike: one round to warm up, then those that count. */
export async function measure(subjects: readonly Subject[], { rounds }: Depth): Promise<Measurement[]> {
  const loads = subjects.map((): Load[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      const load = await subject.measure(round);
      if (round > 0) loads[index]?.push(load);
    }
  }
  return subjects.map((subject, index) => toMeasurement(subject, loads[index] ?? []));
}

const toSubject = (server: Server, { depth, asks, connections, ids, cores }: Throughput): Subject => ({
  name: server.name,
  role: server.role,
  measure: (round) =>
    load(server, {
      exchanges: asks.map((ask) => server.exchanges[ask]).filter((exchange) => exchange !== undefined),
      connections,
      seconds: depth.seconds,
      ...(ids === undefined ? {} : { ids: ids(round) }),
      ...(cores === undefined ? {} : { cores }),
    }),
});

/**
 * Looks closely at one answer of each kind, before it is asked for many times.
 * @throws Error when it is not the right one
 */
export async function probeAll(server: Server, asks: readonly ExchangeName[]): Promise<void> {
  for (const ask of new Set(asks)) {
    const exchange = server.exchanges[ask];
    if (exchange === undefined) continue;
    await probe(server.url, exchange).catch((error: Error) => {
      throw new Error(`${server.name} answers wrongly: ${error.message}`);
    });
  }
}

/** What the loads of one come to. */
export function toMeasurement({ name, role }: Pick<Subject, "name" | "role">, loads: readonly Load[]): Measurement {
  const middles = (["p50Ms", "p99Ms", "busy"] as const).flatMap((field) => {
    const values = loads.map((load) => load[field]).filter((value) => value !== undefined);
    return values.length === 0 ? [] : [[field, rounded(median(values), 3)]];
  });
  return {
    server: name,
    role,
    rounds: loads.map(({ perSecond }) => rounded(perSecond, 1)),
    errors: loads.reduce((sum, { errors }) => sum + errors, 0),
    ...Object.fromEntries(middles),
  };
}

/** What the paced loads of one come to: its figure is the p99. */
export function toLatency({ name, role }: Pick<Subject, "name" | "role">, loads: readonly Paced[]): Measurement {
  const shares = loads[0]?.percentiles.map(({ share }) => share) ?? [];
  const msOf = (load: Paced, share: number) => load.percentiles.find((each) => each.share === share)?.ms ?? Number.NaN;
  return {
    server: name,
    role,
    rounds: loads.map((load) => rounded(msOf(load, 0.99), 3)),
    errors: loads.reduce((sum, { errors }) => sum + errors, 0),
    lateP99Ms: rounded(median(loads.map(({ lateP99Ms }) => lateP99Ms)), 3),
    percentiles: shares.map((share) => ({ share, ms: rounded(median(loads.map((load) => msOf(load, share))), 3) })),
  };
}

/** With so many decimal places. */
export const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;
