import { limitSendQueues } from "./send-queue.ts";

/** A certificate chain, the server's own certificate first, and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

type ServeOptions = Parameters<typeof Bun.serve<undefined>>[0] & { readonly hostname: string; readonly port: number };
type Handlers = Pick<Bun.Serve.Options<undefined>, "routes" | "fetch">;

/**
 * The cipher suites of TLS 1.2: those with forward secrecy and AEAD, as in Mozilla's "intermediate" configuration (5.7).
 * Bun also offers CBC and static RSA otherwise. TLS 1.3 has no other kind.
 */
const TLS_1_2_CIPHERS = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
  .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
  .join(":");

/** Where to listen, and how. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Whether other processes that say the same may listen on this port too; the kernel spreads the connections. */
  readonly reusePort: boolean;
  /** Seconds, at most 255: how long a connection may be idle, a body may take to arrive and a reader may stall. */
  readonly idleTimeoutSeconds: number;
  /** Makes it speak TLS, 1.2 or newer, and nothing else. */
  readonly certificate?: Certificate | undefined;
}

/** The socket that accepts connections. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #handlers: Handlers;
  #server: Bun.Server<undefined>;
  /** Former sockets: they accept no connections, and close when their requests are answered. */
  readonly #retired = new Set<Bun.Server<undefined>>();

  /** @throws Error when the address cannot be listened on */
  constructor(options: ListenerOptions, handlers: Handlers) {
    const { host, port, reusePort, certificate } = options;
    this.#options = options;
    this.#handlers = handlers;
    const isAlone = certificate !== undefined && !reusePort;
    this.#server = this.#listen(isAlone ? findPort(host, port) : port, certificate);
  }

  /** `http://host:port` or `https://host:port`, with the port that was really taken. */
  get url(): string {
    return this.#server.url.origin;
  }

  /** Requests that are being answered. */
  get pendingRequests(): number {
    const { pendingRequests } = this.#server;
    if (this.#retired.size === 0) return pendingRequests;
    return [...this.#retired].reduce((sum, server) => sum + server.pendingRequests, pendingRequests);
  }

  /** The address at the other end of a request's connection; empty when it is gone. */
  peerAddress(request: Request): string {
    return this.#server.requestIP(request)?.address ?? "";
  }

  /**
   * Uses another certificate for new connections. Bun cannot replace the certificate of a socket, so this opens a
   * second socket on the port and then closes the first one with its idle connections.
   * @throws Error when the second socket cannot be opened; the first one remains
   */
  setCertificate(certificate: Certificate): void {
    const old = this.#server;
    this.#server = this.#listen(Number(old.port), certificate);
    this.#retired.add(old);
    old.stop().finally(() => this.#retired.delete(old));
  }

  /**
   * Once `isQuiet` resolves, takes no new connections; resolves when every request is answered, at the latest after
   * `deadlineMs`.
   */
  async stop(deadlineMs: number, isQuiet: Promise<void>): Promise<void> {
    const servers = [this.#server, ...this.#retired];
    const timer = setTimeout(() => servers.map((server) => server.stop(true)), deadlineMs);
    await isQuiet;
    await Promise.all(servers.map((server) => server.stop()));
    clearTimeout(timer);
  }

  #listen(port: number, certificate: Certificate | undefined): Bun.Server<undefined> {
    const { host, reusePort, idleTimeoutSeconds } = this.#options;
    const options = {
      hostname: host,
      port,
      // Explicitly false otherwise: in production mode Bun would share a port that another program uses. With a
      // certificate the listener shares the port with its own successor.
      reusePort: reusePort || certificate !== undefined,
      idleTimeout: idleTimeoutSeconds,
      // The limit for plants is 64 KiB, but the answer to a larger body has the shape of all others (see body.ts).
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      ...this.#handlers,
      ...(certificate === undefined
        ? {}
        : { tls: { cert: certificate.cert, key: certificate.key, ciphers: TLS_1_2_CIPHERS } }),
    };
    const server = serve(options as ServeOptions);
    limitSendQueues();
    return server;
  }
}

/**
 * The port that processes may share from now on: `port`, or a free one for 0. Each of them would take a port that
 * another program shares as well; here it is held alone for a moment.
 * @throws Error when the address cannot be listened on
 */
export function findPort(hostname: string, port: number): number {
  const probe = serve({ hostname, port, reusePort: false, fetch: () => new Response() });
  const found = probe.port as number;
  probe.stop(true);
  return found;
}

/** `Bun.serve` with an error that names the address; its cause has the system's error code. */
function serve(options: ServeOptions): Bun.Server<undefined> {
  try {
    return Bun.serve(options);
  } catch (error) {
    throw new Error(`cannot listen on ${options.hostname}:${options.port}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
