import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { type Config, UsageError } from "../config.ts";
import type { Certificate } from "../http/listener.ts";

/** How often the files are read again: a link that is switched, as Kubernetes does it, tells no watcher. */
const READ_EVERY_MS = 2_000;

/** Who wants to know of changes. */
interface Watcher {
  onChange(certificate: Certificate): void;
  /** The files hold nothing that can be used. Heard once, until the reason is another. */
  onFault(error: Error): void;
}

/** The files that hold the server's certificate and its private key. */
export class CertificateFiles {
  readonly #certPath: string;
  readonly #keyPath: string;
  #current: Certificate;

  /**
   * The files that the settings name; `undefined` when they name none.
   * @throws UsageError when they name one of the two; Error when the files hold no certificate with its key
   */
  static open({ tlsCert, tlsKey }: Config<"tlsCert" | "tlsKey">): CertificateFiles | undefined {
    if (tlsCert === "off" && tlsKey === "off") return undefined;
    if (tlsCert !== "off" && tlsKey !== "off") return new CertificateFiles(tlsCert, tlsKey);
    throw new UsageError("--tls-cert and --tls-key go together: give both, or neither");
  }

  private constructor(certPath: string, keyPath: string) {
    this.#certPath = certPath;
    this.#keyPath = keyPath;
    this.#current = this.#read();
  }

  /** What they held when they were last read and could be used. */
  get current(): Certificate {
    return this.#current;
  }

  /** Reads them again and again; the result ends that. */
  watch({ onChange, onFault }: Watcher): () => void {
    let fault = "";
    const timer = setInterval(() => {
      const before = this.#current;
      try {
        this.#current = this.#read(before);
        fault = "";
      } catch (error) {
        const { message } = error as Error;
        if (message !== fault) onFault(error as Error);
        fault = message;
      }
      if (this.#current !== before) onChange(this.#current);
    }, READ_EVERY_MS);
    return () => clearInterval(timer);
  }

  /** What the files hold: `known`, when they hold the same. */
  #read(known?: Certificate): Certificate {
    try {
      const certificate = { cert: readFileSync(this.#certPath, "utf8"), key: readFileSync(this.#keyPath, "utf8") };
      if (certificate.cert === known?.cert && certificate.key === known.key) return known;
      createSecureContext(certificate);
      return certificate;
    } catch (error) {
      const files = `the certificate ${this.#certPath} with the key ${this.#keyPath}`;
      throw new Error(`cannot use ${files}: ${(error as Error).message}`);
    }
  }
}
