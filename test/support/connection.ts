import { connect, type Socket } from "node:net";

/** A request to send. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A complete response. `text` is its body without chunk framing. */
export interface WireReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An HTTP/1.1 connection. An incomplete response is an error, and nothing is retried. */
export class Connection {
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #reply: PromiseWithResolvers<WireReply> | undefined;
  #isOpen = true;

  /** Connects to the host and port of a URL. */
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
    socket.on("data", (chunk: Uint8Array) => this.#receive(chunk));
    socket.on("error", ({ message }) => {
      error = message;
    });
    socket.on("end", () => {
      this.#isOpen = false;
    });
    socket.on("close", () => {
      this.#isOpen = false;
      const received = this.#received.toString("latin1").slice(0, 200);
      this.#reply?.reject(new Error(`closed before the response was complete: ${error} ${received}`));
    });
  }

  /** Whether another request may be sent: neither side has closed the connection or announced that it will. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a request and resolves with the complete response. */
  send(request: WireRequest): Promise<WireReply> {
    this.#reply = Promise.withResolvers();
    this.#socket.write(toBytes(request));
    return this.#reply.promise;
  }

  /** Stops reading until `resume` is called. */
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

  #receive(chunk: Uint8Array): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    const reply = parseReply(this.#received);
    if (reply === undefined) return;
    this.#received = Buffer.alloc(0);
    if (reply.headers.get("connection") === "close") this.close();
    this.#reply?.resolve(reply);
  }
}

/** Persistent connections to one server. */
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

/** Parses a response; returns `undefined` while it is incomplete. */
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
