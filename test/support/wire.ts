import { connect, type Socket } from "node:net";

/** One answer as it stood on the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The number of an `Error`; the bare status of anything else. */
  readonly outcome: number;
}

/** Longer than the idle timeout of any server in the tests: whoever waits so long has found a hang. */
const DEADLINE_MS = 25_000;

/** A connection on which a test says exactly what it likes, and reads one answer after another. */
export class Wire {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #wake = () => {};

  /** Connects to the host and port of a URL. */
  static async open(url: string): Promise<Wire> {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), allowHalfOpen: true });
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Wire(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket.setNoDelay(true);
    const close = () => {
      this.#isClosed = true;
      this.#wake();
    };
    socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    for (const event of ["end", "close", "error"]) socket.on(event, close);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Sends bytes; a text stands for one byte a character (ISO 8859-1). */
  send(bytes: string | Uint8Array): void {
    if (!this.#isClosed) this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Says that nothing more will be sent, and goes on listening. */
  end(): void {
    this.#socket.end();
  }

  /** Breaks the connection off, whatever is on its way. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** The next answer, to a `HEAD` without its body; `undefined` when the server has hung up without one. */
  async answer(isHead = false): Promise<WireAnswer | undefined> {
    const found = await this.#take((bytes) => {
      const end = bytes.indexOf("\r\n\r\n");
      return end < 0 ? undefined : end + 4;
    });
    if (found === undefined) return undefined;
    const [line = "", ...fields] = found.toString("latin1").trimEnd().split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s, 2) as [string, string]));
    if (Number.isNaN(status) || headers.has("transfer-encoding"))
      throw new Error(`no answer that a test reads: ${found}`);
    const length = isHead || status < 200 ? 0 : Number(headers.get("content-length") ?? 0);
    const body = length === 0 ? "" : await this.#take((bytes) => (bytes.length < length ? undefined : length));
    if (body === undefined) throw new Error(`the answer ends in its middle: ${found}`);
    const text = body.toString();
    return { status, headers, text, outcome: outcomeOf(status, headers, text) };
  }

  /** Resolves once the server has hung up, with whatever it said before. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#news();
    return this.#received.toString("latin1");
  }

  /** Takes the first bytes of what came, as many as `measure` finds; `undefined` when the server hangs up before. */
  async #take(measure: (bytes: Buffer) => number | undefined): Promise<Buffer | undefined> {
    for (;;) {
      const length = measure(this.#received);
      if (length !== undefined) {
        const taken = this.#received.subarray(0, length);
        this.#received = this.#received.subarray(length);
        return taken;
      }
      if (this.#isClosed) return undefined;
      await this.#news();
    }
  }

  async #news(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`nothing came, only ${this.#received}`)), DEADLINE_MS);
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}

function outcomeOf(status: number, headers: Headers, text: string): number {
  if (status < 400 || headers.get("content-type") !== "application/json" || text === "") return status;
  const { error, message, ...rest } = JSON.parse(text) as Record<string, unknown>;
  const isError = Math.floor(Number(error) / 100) === status && typeof message === "string" && message !== "";
  if (!isError || Object.keys(rest).length > 0) throw new Error(`not an Error of ${status}: ${text}`);
  return error as number;
}
