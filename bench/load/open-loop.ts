/**
 * Sends requests at fixed times, whether or not earlier ones were answered (an open loop), and counts each latency from
 * the time at which its request was due: a server that stalls is charged with every request that it kept from being
 * sent. Its argument is a {@link Job} as JSON; it prints a {@link Paced} as JSON.
 */

import type { Percentile } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import type { Ids } from "./ids.ts";
import { ResponseReader } from "./responses.ts";

/** What is to be sent. */
export interface Job {
  readonly hostname: string;
  readonly port: number;
  /** The bytes of a request before its id and after it; `tail` is absent when it has none. */
  readonly head: string;
  readonly tail?: string;
  readonly ids: Ids;
  /** Of the right answer. */
  readonly status: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
  /** Whether to take the whole core to be on time; otherwise requests are sent every millisecond. */
  readonly isPrecise: boolean;
}

/** What came of it. The first tenth only warms up. */
export interface Paced {
  readonly perSecond: number;
  /** Wrong answers, and requests without one. */
  readonly errors: number;
  readonly percentiles: readonly Percentile[];
  /** By which 99% of the requests left, in milliseconds after they were due, while a connection was free. */
  readonly lateP99Ms: number;
}

const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
/** How long to wait for the last answers. */
const LINGER_MS = 5_000;

interface Connection {
  due: number;
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
let answered = 0;
let wrong = 0;
let open = job.connections;
let { offset } = job.ids;

for (let index = 0; index < job.connections; index++) await connect();
startedMs = performance.now();
const deadlineMs = startedMs + job.seconds * 1_000 + LINGER_MS;
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
    due: 0,
    isBusy: false,
    reader: new ResponseReader((status) => onAnswer(connection, status)),
    send: (text) => socket.write(text),
  };
  socket.data = connection;
  idle.push(connection);
}

/** What it was asked last may stay unanswered; the others take its part. */
function onClose(connection: Connection): void {
  if (!connection.isBusy) idle.splice(idle.indexOf(connection), 1);
  if (--open === 0) finish();
}

function onAnswer(connection: Connection, status: number): void {
  const now = performance.now();
  if (status !== job.status) wrong++;
  latencies[answered++] = now - connection.due;
  connection.isBusy = false;
  idle.push(connection);
  // A request that had to wait for a connection leaves at once.
  if (isDue(now)) send();
}

function isDue(now: number): boolean {
  return sent < total && now >= startedMs + sent * intervalMs;
}

function tick(): void {
  const now = performance.now();
  while (idle.length > 0 && isDue(now)) {
    delays[sent] = now - (startedMs + sent * intervalMs);
    send();
  }
  if (answered === total || now > deadlineMs) finish();
  else if (job.isPrecise) setImmediate(tick);
  else setTimeout(tick, 1);
}

function send(): void {
  const connection = idle.pop() as Connection;
  connection.due = startedMs + sent++ * intervalMs;
  connection.isBusy = true;
  offset = (offset + job.ids.step) % job.ids.span;
  connection.send(job.tail === undefined ? job.head : `${job.head}${job.ids.from + offset}${job.tail}`);
}

function finish(): never {
  const warmUp = Math.floor(total / 10);
  const ascending = latencies.subarray(warmUp, answered).sort();
  const paced: Paced = {
    perSecond: answered / ((performance.now() - startedMs) / 1_000),
    errors: wrong + total - answered,
    percentiles: SHARES.map((share) => ({ share, ms: percentile(ascending, share) })),
    lateP99Ms: percentile(delays.subarray(warmUp).sort(), 0.99),
  };
  console.log(JSON.stringify(paced));
  process.exit();
}
