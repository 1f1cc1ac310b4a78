import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from "jose";
import { AppError } from "../domain/error.ts";
import { limitConcurrency } from "./limit-concurrency.ts";

/** Accepted signature algorithms. All are asymmetric: a secret that verifies tokens could also sign them. */
export const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** RFC 7518, sections 3.3 and 3.5. */
const MIN_RSA_BITS = 2_048;

/** Minimum time between the starts of two fetches. */
const FETCH_INTERVAL_MS = 1_000;
/** Timeout of a fetch, including its body. */
const TIMEOUT_MS = 3_000;
/** Maximum size of the provider's response, after decompression. */
const MAX_BYTES = 1024 * 1024;
const MAX_KEYS = 100;
/** Interval of background fetches. When the cached keys are older, each request may start a fetch too. */
const MAX_AGE_MS = 600_000;
/** Maximum age of cached keys; older ones are not used. */
const MAX_STALE_MS = 86_400_000;
/** Maximum number of requests that wait for a fetch. */
const MAX_WAITING = 64;

/** Caches the public keys of an identity provider (JWK Set, RFC 7517) and fetches them from its URL when needed. */
export class KeySet {
  readonly #url: string;
  readonly #onFailure: (error: AppError) => void;
  #cached: JWTVerifyGetKey = createLocalJWKSet({ keys: [] });
  #fetchedAtMs = Number.NEGATIVE_INFINITY;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  readonly #limitWaiting = limitConcurrency(
    MAX_WAITING,
    "too many requests are waiting for the identity provider's keys: try again",
  );
  /** The error of the latest fetch, if it failed. */
  #failure: AppError | undefined;

  /** `onFailure` is called when a fetch fails, and not again until one has succeeded. */
  constructor(url: string, onFailure: (error: AppError) => void) {
    this.#url = url;
    this.#onFailure = onFailure;
    // Removes withdrawn keys on an idle server too, where no request starts a fetch.
    setInterval(() => this.#refresh(), MAX_AGE_MS).unref();
  }

  /**
   * Returns the key for the `alg` and `kid` of a token. Waits for a fetch only when the key is not cached.
   * @throws AppError `unavailable` when the key is not cached and the keys cannot be fetched, or when too many requests
   * wait for them; JOSEError when the provider has no such key
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const ageMs = performance.now() - this.#fetchedAtMs;
    if (ageMs > MAX_AGE_MS) this.#refresh();
    if (ageMs <= MAX_STALE_MS) {
      try {
        return await this.#cached(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      }
    }
    this.#refresh();
    const fetching = this.#fetching;
    if (fetching !== undefined) await this.#limitWaiting(() => fetching);
    if (this.#failure !== undefined) throw this.#failure;
    return await this.#cached(header, token);
  };

  /** Starts a fetch unless one is in progress or the latest one started less than a second ago. */
  #refresh(): void {
    const nowMs = performance.now();
    if (this.#fetching !== undefined || nowMs - this.#startedAtMs < FETCH_INTERVAL_MS) return;
    this.#startedAtMs = nowMs;
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
  }

  /** Replaces the cached keys, or keeps them and records the failure. Never rejects. */
  async #fetch(): Promise<void> {
    try {
      this.#cached = createLocalJWKSet({ keys: await fetchKeys(this.#url) });
      this.#fetchedAtMs = performance.now();
      this.#failure = undefined;
    } catch (cause) {
      const isFirst = this.#failure === undefined;
      this.#failure = new AppError("unavailable", "cannot fetch the identity provider's keys: try again", { cause });
      if (isFirst) this.#onFailure(this.#failure);
    }
  }
}

/** Fetches a JWK Set and returns its usable keys. Ignores the others (RFC 7517, section 5). */
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

/** Returns whether a JWK is a public key that can be imported for one of {@link ALGORITHMS}. */
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
