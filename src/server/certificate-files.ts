import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Config } from "../config/config.ts";
import type { Certificate } from "../http/listener.ts";

/** Polling interval: file watchers miss a symbolic link that is switched, as Kubernetes does. */
const CHECK_INTERVAL_MS = 2_000;
/** Maximum size of a certificate chain or key. */
const MAX_PEM_BYTES = 1024 * 1024;

/** Receives the outcome of reading the files again. */
interface Watcher {
  /** The files have changed. When this throws, the change counts as failed, and the next check repeats it. */
  onChange(certificate: Certificate): void;
  /** The files cannot be used. Called once, until the reason changes. */
  onError(error: Error): void;
}

/** The files with the server's certificate chain and private key. */
export class CertificateFiles {
  readonly #certPath: string;
  readonly #keyPath: string;
  #current: Certificate;
  #watcher: Watcher | undefined;
  #lastError = "";

  /**
   * Opens the files of the settings; returns `undefined` when none are set.
   * @throws Error when they are not a certificate and its key
   */
  static open({ tlsCert, tlsKey }: Config<"tlsCert" | "tlsKey">): CertificateFiles | undefined {
    return tlsCert === undefined || tlsKey === undefined ? undefined : new CertificateFiles(tlsCert, tlsKey);
  }

  private constructor(certPath: string, keyPath: string) {
    this.#certPath = certPath;
    this.#keyPath = keyPath;
    this.#current = this.#read();
  }

  /** The latest certificate that could be used. */
  get current(): Certificate {
    return this.#current;
  }

  /** Checks the files at an interval, until the returned function is called. */
  watch(watcher: Watcher): () => void {
    this.#watcher = watcher;
    const timer = setInterval(() => this.check(), CHECK_INTERVAL_MS);
    return () => {
      clearInterval(timer);
      this.#watcher = undefined;
    };
  }

  /** Reads the files now, and reports the outcome to the watcher. Without a watcher it does nothing. */
  check(): void {
    if (this.#watcher === undefined) return;
    try {
      const next = this.#read(this.#current);
      if (next !== this.#current) this.#watcher.onChange(next);
      this.#current = next;
      this.#lastError = "";
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#lastError) this.#watcher.onError(error as Error);
      this.#lastError = message;
    }
  }

  /** Reads and checks the files. Returns `known` when they have not changed. */
  #read(known?: Certificate): Certificate {
    try {
      const certificate = { cert: readPem(this.#certPath), key: readPem(this.#keyPath) };
      if (certificate.cert === known?.cert && certificate.key === known.key) return known;
      createSecureContext(certificate);
      return certificate;
    } catch (error) {
      const files = `the certificate ${this.#certPath} with the key ${this.#keyPath}`;
      throw new Error(`cannot use ${files}: ${(error as Error).message}`);
    }
  }
}

/** Reads a PEM file. Reading a pipe or a device could block the event loop or never end. */
function readPem(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new Error(`${path} is not a regular file`);
  if (stats.size > MAX_PEM_BYTES) throw new Error(`${path} is larger than ${MAX_PEM_BYTES} bytes`);
  const text = readFileSync(path, "utf8");
  if (!text.includes("-----BEGIN ")) throw new Error(`${path} has no PEM block`);
  return text;
}
