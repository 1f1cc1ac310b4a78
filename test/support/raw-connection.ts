import { connect, type Socket } from "node:net";

/** A parsed response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The error number of an `Error` body; the status of any other response. */
  readonly outcome: number;
}

/** Longer than the idle timeout of any server in these tests, so that a timeout is a hang. */
const DEADLINE_MS = 25_000;

/** A connection that sends arbitrary bytes and reads one response at a time. */
export class RawConnection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #wake = () => {};

  /** Connects to the host and port of a URL. */
  static async open(url: string): Promise<RawConnection> {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), allowHalfOpen: true });
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawConnection(socket);
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

  /** Sends bytes, or a string with one byte per character (ISO 8859-1). */
  send(bytes: string | Uint8Array): void {
    if (!this.#isClosed) this.#socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /** Closes the sending half of the connection. */
  end(): void {
    this.#socket.end();
  }

  /** Resets the connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Reads the next response, for `HEAD` without a body; `undefined` when the server has closed the connection. */
  async readResponse(isHead = false): Promise<RawResponse | undefined> {
    const head = await this.#take((bytes) => {
      const end = bytes.indexOf("\r\n\r\n");
      return end < 0 ? undefined : end + 4;
    });
    if (head === undefined) return undefined;
    const [line = "", ...fields] = head.toString("latin1").trimEnd().split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    const headers = new Headers(fields.map((field) => field.split(/: ?(.*)/s, 2) as [string, string]));
    if (Number.isNaN(status) || headers.has("transfer-encoding")) throw new Error(`unsupported response: ${head}`);
    const length = isHead || status < 200 ? 0 : Number(headers.get("content-length") ?? 0);
    const body = length === 0 ? "" : await this.#take((bytes) => (bytes.length < length ? undefined : length));
    if (body === undefined) throw new Error(`incomplete response: ${head}`);
    const text = body.toString();
    return { status, headers, text, outcome: outcomeOf(status, headers, text) };
  }

  /** Resolves when the server has closed the connection, with the bytes that were not read before. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#untilReceived();
    return this.#received.toString("latin1");
  }

  /** Removes and returns as many received bytes as `measure` returns; `undefined` when the server closes first. */
  async #take(measure: (bytes: Buffer) => number | undefined): Promise<Buffer | undefined> {
    for (;;) {
      const length = measure(this.#received);
      if (length !== undefined) {
        const taken = this.#received.subarray(0, length);
        this.#received = this.#received.subarray(length);
        return taken;
      }
      if (this.#isClosed) return undefined;
      await this.#untilReceived();
    }
  }

  async #untilReceived(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`timeout; received only ${this.#received}`)), DEADLINE_MS);
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
