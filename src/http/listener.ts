import { limitSendQueues } from "./send-queue.ts";

/** A certificate chain, the server's own certificate first, and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

type ServeOptions = Parameters<typeof Bun.serve<undefined>>[0] & { readonly hostname: string; readonly port: number };
type Handlers = Pick<Bun.Serve.Options<undefined>, "routes" | "fetch">;

/**
 * Cipher suites of TLS 1.2 with forward secrecy and AEAD, as in Mozilla's "intermediate" configuration (5.7). Bun's
 * default also includes CBC and static RSA. All suites of TLS 1.3 qualify.
 */
const TLS_1_2_CIPHERS = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
  .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
  .join(":");

/** Options of {@link Listener}. */
export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  /** Sets `SO_REUSEPORT`: processes that set it share the port, and the kernel distributes the connections. */
  readonly reusePort: boolean;
  /** Timeout in seconds, at most 255, for idle connections, for receiving a body, and for clients that stop reading. */
  readonly idleTimeoutSeconds: number;
  /** Enables TLS 1.2 and newer, and disables plain HTTP. */
  readonly certificate?: Certificate | undefined;
}

/** The listening socket. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #handlers: Handlers;
  #server: Bun.Server<undefined>;
  /** Replaced sockets: they accept no connections, and close after their last response. */
  readonly #retired = new Set<Bun.Server<undefined>>();

  /** @throws Error when it cannot listen on the address */
  constructor(options: ListenerOptions, handlers: Handlers) {
    const { host, port, reusePort, certificate } = options;
    this.#options = options;
    this.#handlers = handlers;
    const isExclusive = certificate !== undefined && !reusePort;
    this.#server = this.#listen(isExclusive ? findPort(host, port) : port, certificate);
  }

  /** `http://host:port` or `https://host:port`, with the actual port. */
  get url(): string {
    return this.#server.url.origin;
  }

  /** The number of requests whose response is not sent completely. */
  get pendingRequests(): number {
    const { pendingRequests } = this.#server;
    if (this.#retired.size === 0) return pendingRequests;
    return [...this.#retired].reduce((sum, server) => sum + server.pendingRequests, pendingRequests);
  }

  /** Returns the remote address of a request's connection, or an empty string if the connection is closed. */
  protected peerAddress(request: Request): string {
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
   * Stops accepting connections when `quiescent` resolves. Resolves when all responses are sent, or after `timeoutMs`.
   */
  async stop(timeoutMs: number, quiescent: Promise<void>): Promise<void> {
    const servers = [this.#server, ...this.#retired];
    const timer = setTimeout(() => servers.map((server) => server.stop(true)), timeoutMs);
    await quiescent;
    await Promise.all(servers.map((server) => server.stop()));
    clearTimeout(timer);
  }

  #listen(port: number, certificate: Certificate | undefined): Bun.Server<undefined> {
    const { host, reusePort, idleTimeoutSeconds } = this.#options;
    const options = {
      hostname: host,
      port,
      // Explicitly false, because in production mode Bun shares ports by default, also with other programs. With a
      // certificate, the listener shares the port with its own replacement socket.
      reusePort: reusePort || certificate !== undefined,
      idleTimeout: idleTimeoutSeconds,
      // `body.ts` limits bodies to 64 KiB, with the same error format as all other responses.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      ...this.#handlers,
      ...(certificate && { tls: { ...certificate, ciphers: TLS_1_2_CIPHERS } }),
    };
    const server = serve(options as ServeOptions);
    limitSendQueues();
    return server;
  }
}

/**
 * Returns a port that several sockets can share: `port`, or a free one if it is 0. Briefly opens it exclusively, because a
 * shared socket would also open on a port that another program shares.
 * @throws Error when it cannot listen on the address
 */
export function findPort(hostname: string, port: number): number {
  const probe = serve({ hostname, port, reusePort: false, fetch: () => new Response() });
  const freePort = probe.port as number;
  probe.stop(true);
  return freePort;
}

/** Calls `Bun.serve`. Its errors name the address, and their cause has the system's error code. */
function serve(options: ServeOptions): Bun.Server<undefined> {
  try {
    return Bun.serve(options);
  } catch (error) {
    throw new Error(`cannot listen on ${options.hostname}:${options.port}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
