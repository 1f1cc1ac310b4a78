import type { LineUp } from "./line-up.ts";
import type { Ids } from "./load/ids.ts";
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
  const loads = await inTurn(subjects, depth, (subject, round) => subject.measure(round));
  const measurements = subjects.map((subject) => toMeasurement(subject, loads.get(subject) ?? []));
  return { what, unit: "/s", targets, measurements: [...measurements, ...missing] };
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

/** Measures each in turn, so that a drift of the machine meets all alike: one round to warm up, then those that count. */
export async function inTurn<Each, Result>(
  subjects: readonly Each[],
  { rounds }: Depth,
  measure: (subject: Each, round: number) => Promise<Result>,
): Promise<Map<Each, Result[]>> {
  const results = new Map<Each, Result[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const subject of subjects) {
      const result = await measure(subject, round);
      if (round > 0) results.get(subject)?.push(result);
    }
  }
  return results;
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

/** With so many decimal places. */
export const rounded = (value: number, places: number): number => Math.round(value * 10 ** places) / 10 ** places;
