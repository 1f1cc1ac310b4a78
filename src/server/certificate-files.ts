import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Config } from "../config/config.ts";
import type { Certificate } from "../http/listener.ts";
import type { HttpServer } from "../http/server.ts";
import type { Log } from "../observability/log.ts";

/** Polling interval. A file watcher would miss a symbolic link that is switched, as in a Kubernetes volume. */
const CHECK_INTERVAL_MS = 2_000;
/** Maximum size of a certificate chain or key. */
const MAX_PEM_BYTES = 1024 * 1024;

/** The files with the server's certificate chain and private key. */
export class CertificateFiles {
  readonly #certPath: string;
  readonly #keyPath: string;
  readonly #log: Log["events"];
  #current: Certificate;
  #listener: Pick<HttpServer, "setCertificate"> | undefined;
  #lastError = "";

  /**
   * Reads the configured files, or returns `undefined` when none are configured.
   * @throws Error when they are not a certificate and its key
   */
  static open({ tlsCert, tlsKey }: Config<"tlsCert" | "tlsKey">, log: Log["events"]): CertificateFiles | undefined {
    return tlsCert === undefined || tlsKey === undefined ? undefined : new CertificateFiles(tlsCert, tlsKey, log);
  }

  private constructor(certPath: string, keyPath: string, log: Log["events"]) {
    this.#certPath = certPath;
    this.#keyPath = keyPath;
    this.#log = log;
    this.#current = this.#read();
  }

  /** The latest usable certificate. */
  get current(): Certificate {
    return this.#current;
  }

  /** Starts polling the files for this listener. Returns a function that stops it. */
  watch(listener: Pick<HttpServer, "setCertificate">): () => void {
    this.#listener = listener;
    const timer = setInterval(() => this.check(), CHECK_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      this.#listener = undefined;
    };
  }

  /** Installs the certificate if the files have changed. Logs a failure unless it repeats the last one; the next check retries. */
  check(): void {
    if (this.#listener === undefined) return;
    try {
      const next = this.#read(this.#current);
      if (next !== this.#current) {
        this.#listener.setCertificate(next);
        this.#current = next;
        this.#log.info("certificate replaced");
      }
      this.#lastError = "";
    } catch (err) {
      const { message } = err as Error;
      if (message !== this.#lastError) this.#log.warn({ err }, "certificate not replaced");
      this.#lastError = message;
    }
  }

  /** Reads and checks the files. Returns `current` when they have not changed. */
  #read(current?: Certificate): Certificate {
    try {
      const certificate = { cert: readPem(this.#certPath), key: readPem(this.#keyPath) };
      if (certificate.cert === current?.cert && certificate.key === current.key) return current;
      createSecureContext(certificate);
      return certificate;
    } catch (error) {
      const files = `the certificate ${this.#certPath} with the key ${this.#keyPath}`;
      throw new Error(`cannot use ${files}: ${(error as Error).message}`);
    }
  }
}

/** Reads a PEM file. Rejects pipes and devices, because reading one could block the event loop or never end. */
function readPem(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  if (stats.size > MAX_PEM_BYTES) throw new Error(`${path} is larger than ${MAX_PEM_BYTES} bytes`);
  const text = readFileSync(path, "utf8");
  if (!text.includes("-----BEGIN ")) throw new Error(`${path} has no PEM block`);
  return text;
}
