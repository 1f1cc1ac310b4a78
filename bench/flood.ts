/**
 * `bun bench/flood.ts`: three times the load that the server can take, and a thousand slow clients. The server has one
 * core, this load the other. Ends with 1 when a promise of docs/overload.md does not hold.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Socket } from "bun";
import { median } from "./statistics.ts";

const [SERVER_CORE, LOAD_CORE] = ["0", "1"];
const PORT = 18_791;
const CONNECTIONS = 4_000;
const FEW_CONNECTIONS = 64;
const SLOW_CLIENTS = 1_000;
/** Plants in the store before the floods: the lists are of these. */
const PLANTS = 50_000;
const ROUNDS = 9;
const WAVES = 3;
const WAVE_SECONDS = 2;
/** For what a wave has left to be answered. */
const WAVE_ENDS_MS = 300;
const TICKS_A_SECOND = 100;
const MAIN = join(import.meta.dir, "../src/main.ts");

/** What came back in a while. Times are in milliseconds from the sending of the request. */
interface Tally {
  readonly seconds: number;
  readonly goodMs: number[];
  /** 429 and 503. */
  readonly refusedMs: number[];
  /** Answers of any other kind. */
  strange: number;
}

interface Connection {
  readonly socket: Socket<Connection>;
  sentAtMs: number;
  /** Bytes of the answer that are still to come. */
  restBytes: number;
}

/** Clients that each send one request at a time. */
class Clients {
  readonly #request: () => string;
  readonly #idle: Connection[] = [];
  readonly #all: Socket<Connection>[] = [];
  #tally: Tally = newTally(0);
  #isClosedLoop = false;

  static async open(count: number, request: () => string): Promise<Clients> {
    const clients = new Clients(request);
    for (let opened = 0; opened < count; opened += 100) {
      await Promise.all(Array.from({ length: 100 }, () => clients.#connect()));
    }
    return clients;
  }

  private constructor(request: () => string) {
    this.#request = request;
  }

  /** Each client sends its next request as soon as the last one is answered. */
  async saturate(seconds: number): Promise<Tally> {
    this.#tally = newTally(seconds);
    this.#isClosedLoop = true;
    for (const connection of this.#idle.splice(0)) this.#send(connection);
    await spin(seconds, () => {});
    this.#isClosedLoop = false;
    return this.#tally;
  }

  /** Sends so many requests a second, answered or not, as long as a client is idle. */
  async offer(perSecond: number, seconds: number): Promise<Tally> {
    this.#tally = newTally(seconds);
    let sent = 0;
    await spin(seconds, (elapsedSeconds) => {
      for (const due = elapsedSeconds * perSecond; sent < due; sent++) {
        const connection = this.#idle.pop();
        if (connection !== undefined) this.#send(connection);
      }
    });
    return this.#tally;
  }

  close(): void {
    for (const socket of this.#all) socket.end();
  }

  #send(connection: Connection): void {
    connection.sentAtMs = performance.now();
    connection.socket.write(this.#request());
  }

  async #connect(): Promise<void> {
    const socket = await Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: PORT,
      socket: { data: (from, chunk) => this.#receive(from.data, chunk), error: () => {} },
    });
    socket.data = { socket, sentAtMs: 0, restBytes: 0 };
    this.#all.push(socket);
    this.#idle.push(socket.data);
  }

  #receive(connection: Connection, chunk: Uint8Array): void {
    connection.restBytes += chunk.length;
    if (connection.restBytes === chunk.length) {
      const head = new TextDecoder().decode(chunk.subarray(0, 1_000)).split("\r\n\r\n", 1)[0] ?? "";
      const [, status = ""] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
      connection.restBytes -= head.length + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
      this.#count(status, performance.now() - connection.sentAtMs);
    }
    if (connection.restBytes !== 0) return;
    if (this.#isClosedLoop) this.#send(connection);
    else this.#idle.push(connection);
  }

  #count(status: string, ms: number): void {
    if (status === "200") this.#tally.goodMs.push(ms);
    else if (status === "503" || status === "429") this.#tally.refusedMs.push(ms);
    else this.#tally.strange++;
  }
}

/** Never rests: where two cores share what they compute with, the server has the same half of it all the time. */
async function spin(seconds: number, act: (elapsedSeconds: number) => void): Promise<void> {
  const startMs = performance.now();
  for (let ms = 0; ms < seconds * 1_000; ms = performance.now() - startMs) {
    act(ms / 1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const newTally = (seconds: number): Tally => ({ seconds, goodMs: [], refusedMs: [], strange: 0 });
const together = (tallies: readonly Tally[]): Tally => ({
  seconds: tallies.reduce((sum, { seconds }) => sum + seconds, 0),
  goodMs: tallies.flatMap(({ goodMs }) => goodMs),
  refusedMs: tallies.flatMap(({ refusedMs }) => refusedMs),
  strange: tallies.reduce((sum, { strange }) => sum + strange, 0),
});
const goodput = ({ goodMs, seconds }: Tally): number => goodMs.length / seconds;
const p99 = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;

/** What one round showed, by what it is: the figure and, where something is promised, whether a median keeps it. */
type Figures = Record<string, readonly [figure: number, isKept?: (median: number) => boolean]>;

const isNone = (count: number): boolean => count === 0;

/**
 * Requests of one kind at three times the rate at which they can be answered, then at half of it. That rate is measured
 * before each of several waves, because the speed of a machine can be another one a second later.
 */
async function flood(kind: string, request: () => string): Promise<Figures> {
  const few = await Clients.open(FEW_CONNECTIONS, request);
  await few.saturate(1);
  const before = await calmP99(few, goodput(await few.saturate(1)) / 2);
  const many = await Clients.open(CONNECTIONS, request);
  const mosts: Tally[] = [];
  const waves: Tally[] = [];
  while (waves.length < WAVES) {
    const most = await few.saturate(1);
    const wave = await many.offer(goodput(most) * 3, WAVE_SECONDS);
    const { length: answeredInTime } = wave.goodMs;
    await Bun.sleep(WAVE_ENDS_MS);
    mosts.push(most);
    waves.push({ ...wave, goodMs: wave.goodMs.slice(0, answeredInTime) });
  }
  many.close();
  const most = goodput(together(mosts));
  const during = together(waves);
  let recoveredSeconds = WAVE_ENDS_MS / 1_000;
  for (let isCalm = false; !isCalm && recoveredSeconds < 10; ) {
    const { goodMs, refusedMs } = await few.offer(most / 2, 0.5);
    recoveredSeconds += 0.5;
    isCalm = refusedMs.length === 0 && goodMs.length > 0 && p99(goodMs) < Math.max(2 * before, 20);
  }
  few.close();
  return {
    [`${kind} a second at most`]: [most],
    [`${kind} answered well at three times that, %`]: [(100 * goodput(during)) / most, (share) => share > 80],
    [`${kind} refused, %`]: [(100 * during.refusedMs.length) / (during.refusedMs.length + during.goodMs.length)],
    [`${kind} refused: p99, ms`]: [p99(during.refusedMs), (ms) => ms < 100],
    [`${kind} with a strange answer`]: [during.strange, isNone],
    [`${kind}: seconds until all is as before`]: [recoveredSeconds, (seconds) => seconds <= 5],
  };
}

/** What a thousand slow clients do to the others. */
async function slowClients(token: string, request: () => string): Promise<Figures> {
  const few = await Clients.open(FEW_CONNECTIONS, request);
  await few.saturate(1);
  const most = goodput(await few.saturate(2));
  const without = await calmP99(few, most / 4);
  const stop = startSlowClients(token);
  await Bun.sleep(3_000);
  const during = await few.offer(most / 4, 5);
  stop();
  few.close();
  const withThem = p99(during.goodMs);
  return {
    "others: p99 without slow clients, ms": [without],
    "others: p99 with them, ms": [withThem],
    "others: with them, times without": [withThem / without, (times) => times < 2],
    "others: refused": [during.refusedMs.length, isNone],
  };
}

/** At so many requests a second, once the flood before it is forgotten. */
async function calmP99(clients: Clients, perSecond: number): Promise<number> {
  await Bun.sleep(500);
  await clients.offer(perSecond, 1);
  return p99((await clients.offer(perSecond, 5)).goodMs);
}

/** Clients that send their headers, or their body, a byte a second, or read nothing of a long answer. */
function startSlowClients(token: string): () => void {
  const head = (method: string) => `${method} /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
  const starts = [
    "GET /plants HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    `${head("POST")}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":"`,
    `${head("GET")}\r\n`,
  ];
  let isStopped = false;
  const sockets = new Set<Socket<number>>();
  const open = (kind: number): Promise<unknown> =>
    Bun.connect<number>({
      hostname: "127.0.0.1",
      port: PORT,
      data: kind,
      socket: {
        open(socket) {
          sockets.add(socket);
          socket.write(starts[kind] ?? "");
          if (kind === 2) socket.pause();
        },
        data() {},
        close(socket) {
          sockets.delete(socket);
          if (!isStopped) open(kind).catch(() => {});
        },
      },
    });
  for (let n = 0; n < SLOW_CLIENTS; n++) open(n % starts.length).catch(() => {});
  // Each has its own moment of the second: all at once would be a burst, and keep this program from its other clients.
  let tick = 0;
  const timer = setInterval(() => {
    tick = (tick + 1) % TICKS_A_SECOND;
    let n = 0;
    for (const socket of sockets) if (n++ % TICKS_A_SECOND === tick && socket.data !== 2) socket.write("x");
  }, 1_000 / TICKS_A_SECOND);
  return () => {
    isStopped = true;
    clearInterval(timer);
    for (const socket of sockets) socket.terminate();
  };
}

/** A server on an empty database of its own, and a token for it. */
async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), "plantstore-flood-"));
  const database = ["--database", `sqlite:${folder}/plants.db`];
  const run = (...args: string[]) => [process.execPath, MAIN, ...args, ...database];
  const token = Bun.spawnSync(run("token", "create", "--owner", "flood"))
    .stdout.toString()
    .trim();
  const server = Bun.spawn(
    ["taskset", "-c", SERVER_CORE, ...run("serve", "--port", String(PORT), "--admin-port", "off")],
    { stdout: "pipe", stderr: Bun.file(join(folder, "log")) },
  );
  await server.stdout.getReader().read();
  return {
    token,
    async stop() {
      server.kill("SIGKILL");
      await server.exited;
      rmSync(folder, { recursive: true });
    },
  };
}

/** One round on a server and a database of its own. */
async function round(): Promise<Figures> {
  const { token, stop } = await startServer();
  try {
    const head = (method: string, path: string) =>
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
    let id = 0;
    const create = () => {
      const body = `{"id":${++id},"name":"Aristolochia californica","tag":"vine"}`;
      return `${head("POST", "/plants")}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    };
    // No two of them are the same, so that none is answered from memory.
    let n = 0;
    const list = () => `${head("GET", `/plants?fields=id&limit=500&after=${++n % 10_000}&n=${n}`)}\r\n`;
    const planters = await Clients.open(FEW_CONNECTIONS, create);
    while (id < PLANTS) await planters.saturate(0.1);
    planters.close();
    return {
      ...(await flood("lists", list)),
      ...(await slowClients(token, list)),
      ...(await flood("creates", create)),
    };
  } finally {
    await stop();
  }
}

async function main(): Promise<boolean> {
  Bun.spawnSync(["taskset", "-cp", LOAD_CORE, String(process.pid)]);
  const rounds: Figures[] = [];
  for (let n = 0; n < ROUNDS; n++) rounds.push(await round());
  let areAllKept = true;
  for (const [what, [, isKept = () => true]] of Object.entries(rounds[0] ?? {})) {
    const figures = rounds.map((round) => round[what]?.[0] ?? Number.NaN);
    const middle = median(figures);
    const holds = isKept(middle);
    areAllKept &&= holds;
    const each = figures.map((figure) => figure.toFixed(1)).join("  ");
    console.log(`${what.padEnd(48)} ${middle.toFixed(1).padStart(9)}${holds ? "" : " MISSED"}   (${each})`);
  }
  return areAllKept;
}

process.exit((await main()) ? 0 : 1);
