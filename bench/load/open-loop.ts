/**
 * Open-loop load generator: sends requests at fixed times, regardless of outstanding responses, and measures each
 * latency from the scheduled time. A stall therefore counts for every request that it delayed (no coordinated omission).
 * The argument is a {@link Job} as JSON. Prints an {@link OpenLoopResult} as JSON.
 */

import type { Percentile } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import type { Ids } from "./ids.ts";
import { ResponseReader } from "./responses.ts";

/** Describes a load. */
export interface Job {
  readonly hostname: string;
  readonly port: number;
  /** The bytes of a request before and after its id. Without an id, `head` is the whole request and `tail` is absent. */
  readonly head: string;
  readonly tail?: string;
  readonly ids: Ids;
  /** Expected status. */
  readonly status: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
  /** Whether to busy-wait, which uses a whole core but sends on time. Otherwise due requests are sent once per millisecond. */
  readonly isPrecise: boolean;
}

/** Result of a load. The first tenth of the requests is the warm-up and is not part of the percentiles. */
export interface OpenLoopResult {
  readonly perSecond: number;
  /** Unexpected statuses and requests without a response. */
  readonly errors: number;
  readonly percentiles: readonly Percentile[];
  /** p99 of the delay between scheduled and actual send, while a connection was free. */
  readonly lateP99Ms: number;
}

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
/** Timeout for the remaining responses after the last request was due. */
const DRAIN_TIMEOUT_MS = 5_000;

interface Connection {
  dueMs: number;
  isBusy: boolean;
  readonly reader: ResponseReader;
  send(text: string): void;
}

const job = JSON.parse(process.argv[2] ?? "") as Job;
const total = Math.round(job.perSecond * job.seconds);
const intervalMs = 1_000 / job.perSecond;
const latencies = new Float64Array(total);
const delays = new Float64Array(total);
const idle: Connection[] = [];
let startedMs = 0;
let sent = 0;
let received = 0;
let unexpected = 0;
let open = job.connections;
let { offset } = job.ids;

for (let index = 0; index < job.connections; index++) await connect();
startedMs = performance.now();
const deadlineMs = startedMs + job.seconds * 1_000 + DRAIN_TIMEOUT_MS;
tick();

async function connect(): Promise<void> {
  const { hostname, port } = job;
  const socket = await Bun.connect<Connection>({
    hostname,
    port,
    socket: {
      data: ({ data }, chunk) => data.reader.push(chunk),
      close: ({ data }) => onClose(data),
      error() {},
    },
  });
  socket.setNoDelay(true);
  const connection: Connection = {
    dueMs: 0,
    isBusy: false,
    reader: new ResponseReader((status) => onResponse(connection, status)),
    send: (text) => socket.write(text),
  };
  socket.data = connection;
  idle.push(connection);
}

/** A request in flight on a closed connection counts as an error. The other connections send the remaining requests. */
function onClose(connection: Connection): void {
  if (!connection.isBusy) idle.splice(idle.indexOf(connection), 1);
  if (--open === 0) finish();
}

function onResponse(connection: Connection, status: number): void {
  const nowMs = performance.now();
  if (status !== job.status) unexpected++;
  latencies[received++] = nowMs - connection.dueMs;
  connection.isBusy = false;
  idle.push(connection);
  // A request that waited for a free connection is sent without waiting for the next tick.
  if (isDue(nowMs)) send();
}

function isDue(nowMs: number): boolean {
  return sent < total && nowMs >= startedMs + sent * intervalMs;
}

function tick(): void {
  const nowMs = performance.now();
  while (idle.length > 0 && isDue(nowMs)) {
    delays[sent] = nowMs - (startedMs + sent * intervalMs);
    send();
  }
  if (received === total || nowMs > deadlineMs) finish();
  else if (job.isPrecise) setImmediate(tick);
  else setTimeout(tick, 1);
}

function send(): void {
  const connection = idle.pop() as Connection;
  connection.dueMs = startedMs + sent++ * intervalMs;
  connection.isBusy = true;
  offset = (offset + job.ids.step) % job.ids.span;
  connection.send(job.tail === undefined ? job.head : `${job.head}${job.ids.from + offset}${job.tail}`);
}

function finish(): never {
  const warmUp = Math.floor(total / 10);
  const ascending = latencies.subarray(warmUp, received).sort();
  const result: OpenLoopResult = {
    perSecond: received / ((performance.now() - startedMs) / 1_000),
    errors: unexpected + total - received,
    percentiles: SHARES.map((share) => ({ share, ms: percentile(ascending, share) })),
    lateP99Ms: percentile(delays.subarray(warmUp).sort(), 0.99),
  };
  console.log(JSON.stringify(result));
  process.exit();
}
