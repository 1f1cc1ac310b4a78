import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from "jose";
import { AppError } from "./domain/error.ts";

/** Accepted signature algorithms. All are asymmetric: a secret that verifies tokens could also sign them. */
export const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** RFC 7518, sections 3.3 and 3.5. */
const MIN_RSA_BITS = 2_048;

/** Maximum size of the provider's response, after decompression. */
const MAX_BYTES = 1024 * 1024;
const MAX_KEYS = 100;
/** The provider is asked at most so often, whatever tokens come in and whatever it answers. */
const ASK_EVERY_MS = 1_000;
/** How old keys may be: one that the provider withdraws is used for so long. */
const MAX_AGE_MS = 600_000;
/** How old they may be while the provider cannot be reached. */
const MAX_AGE_ALONE_MS = 86_400_000;
/** How long the provider may take for an answer. */
const TIMEOUT_MS = 3_000;

/** The public keys of an identity provider (RFC 7517), read from its URL as they are needed. */
export class KeySet {
  readonly #url: string;
  #find: JWTVerifyGetKey | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  /**
   * The key that a token says it is signed with.
   * @throws AppError `unavailable` when the provider would have to be asked and cannot be; JOSEError when there is no
   * such key
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const ageMs = performance.now() - this.#readAtMs;
    if (this.#find === undefined || ageMs > MAX_AGE_ALONE_MS) await this.#ask();
    // What is there goes on working without the provider.
    else if (ageMs > MAX_AGE_MS) await this.#ask().catch(() => {});
    try {
      return await this.#known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#ask();
      return await this.#known(header, token);
    }
  };

  #known(...args: Parameters<JWTVerifyGetKey>): ReturnType<JWTVerifyGetKey> {
    if (this.#find === undefined) throw new errors.JWKSNoMatchingKey();
    return this.#find(...args);
  }

  /** Reads the keys anew, or, when that is a moment ago, tells again what became of it. */
  #ask(): Promise<void> {
    const nowMs = performance.now();
    if (nowMs - this.#askedAtMs >= ASK_EVERY_MS) {
      this.#askedAtMs = nowMs;
      this.#asking = this.#read();
    }
    return this.#asking;
  }

  async #read(): Promise<void> {
    try {
      this.#find = createLocalJWKSet({ keys: await fetchKeys(this.#url) });
      this.#readAtMs = performance.now();
    } catch (cause) {
      throw new AppError("unavailable", "the keys of the identity provider cannot be had: try again", { cause });
    }
  }
}

/** Fetches a JWK Set and returns its usable keys; RFC 7517, section 5, says to ignore the others. */
async function fetchKeys(url: string): Promise<JWK[]> {
  const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`${url} returned status ${response.status}`);
  }
  const set = JSON.parse(await readText(response, url)) as { readonly keys?: unknown } | null;
  const keys: JWK[] | undefined = Array.isArray(set?.keys) ? set.keys : undefined;
  if (keys === undefined) throw new Error(`${url} returned no JWK Set`);
  if (keys.length > MAX_KEYS) throw new Error(`${url} returned ${keys.length} keys; the maximum is ${MAX_KEYS}`);
  const usable = await Promise.all(keys.map(isUsable));
  return keys.filter((_, index) => usable[index]);
}

/** Reads a response body. Closes the connection as soon as the body exceeds `MAX_BYTES`. */
async function readText(response: Response, url: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`${url} returned more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** Whether a JWK is a public key that can be imported for one of {@link ALGORITHMS}. */
async function isUsable(jwk: JWK): Promise<boolean> {
  for (const alg of ALGORITHMS) {
    try {
      const { algorithm } = (await createLocalJWKSet({ keys: [jwk] })({ alg })) as CryptoKey;
      return !("modulusLength" in algorithm) || Number(algorithm.modulusLength) >= MIN_RSA_BITS;
    } catch {
      // The key is for another algorithm, or malformed.
    }
  }
  return false;
}
