import { connect, type Socket } from "node:net";

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** An answer as it came; `text` is its body, out of its chunks. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** One HTTP/1.1 connection without any mercy: what is not answered in full is an error, and nothing is sent twice. */
export class Connection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #reply: PromiseWithResolvers<WireReply> | undefined;
  #isOpen = true;

  /** Resolves once the connection stands. */
  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    return new Connection(socket);
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    let error = "";
    socket.on("data", (chunk: Uint8Array) => this.#take(chunk));
    socket.on("error", ({ message }) => {
      error = message;
    });
    socket.on("end", () => {
      this.#isOpen = false;
    });
    socket.on("close", () => {
      this.#isOpen = false;
      const received = this.#received.toString("latin1").slice(0, 200);
      this.#reply?.reject(new Error(`closed before the answer was whole: ${error} ${received}`));
    });
  }

  /** Whether one more request may be sent: neither side has closed it, or said that it will. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a request, and resolves with its answer when all of it has come. */
  send(request: WireRequest): Promise<WireReply> {
    this.#reply = Promise.withResolvers();
    this.#socket.write(toBytes(request));
    return this.#reply.promise;
  }

  /** Reads no more until it is told to go on. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#isOpen = false;
    this.#socket.end();
  }

  #take(chunk: Uint8Array): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const reply = parseReply(this.#received);
    if (reply === undefined) return;
    this.#received = Buffer.alloc(0);
    if (reply.headers.get("connection") === "close") this.close();
    this.#reply?.resolve(reply);
  }
}

/** Connections to one server, used again as long as HTTP lets them be. */
export class ConnectionPool {
  readonly #url: string;
  #idle: Connection[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async send(request: WireRequest): Promise<WireReply> {
    this.#idle = this.#idle.filter(({ isOpen }) => isOpen);
    const connection = this.#idle.pop() ?? (await Connection.open(this.#url));
    const reply = await connection.send(request);
    if (connection.isOpen) this.#idle.push(connection);
    return reply;
  }

  close(): void {
    for (const connection of this.#idle) connection.close();
  }
}

function toBytes({ method, path, headers = {}, body }: WireRequest): string {
  const all = {
    Host: "test",
    ...headers,
    ...(body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/** The answer that the bytes are; `undefined` while some of it is missing. */
function parseReply(bytes: Buffer): WireReply | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/, 2) as [string, string]));
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  const rest = bytes.subarray(end + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? parseChunks(rest) : parseLength(rest, headers);
  return body === undefined ? undefined : { status, headers, text: body.toString() };
}

function parseLength(bytes: Buffer, headers: Headers): Buffer | undefined {
  const length = Number(headers.get("content-length") ?? 0);
  return bytes.length < length ? undefined : bytes.subarray(0, length);
}

function parseChunks(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2 + length + 2;
    if (bytes.length < at) return undefined;
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(bytes.subarray(lineEnd + 2, at - 2));
  }
}
