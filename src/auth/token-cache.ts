interface CacheEntry<Value> {
  readonly value: Value;
  readonly readAtMs: number;
}

/** Caches values by token. The tokens have a maximum total size; the cache is cleared when it is exceeded. */
export class TokenCache<Value> {
  readonly #maxAgeMs: number;
  readonly #maxCharacters: number;
  readonly #entries = new Map<string, CacheEntry<Value>>();
  #characters = 0;

  constructor(maxAgeMs: number, maxCharacters: number) {
    this.#maxAgeMs = maxAgeMs;
    this.#maxCharacters = maxCharacters;
  }

  /** Returns the value of a token unless it is too old. */
  get(token: string): Value | undefined {
    const entry = this.#entries.get(token);
    return entry !== undefined && performance.now() - entry.readAtMs < this.#maxAgeMs ? entry.value : undefined;
  }

  /** Whether a token has a value, even one that is too old. */
  has(token: string): boolean {
    return this.#entries.has(token);
  }

  /** `readAtMs` is the time of `performance.now()` at which the value was current. */
  set(token: string, value: Value, readAtMs: number): void {
    this.delete(token);
    if (this.#characters + token.length > this.#maxCharacters) {
      this.#entries.clear();
      this.#characters = 0;
    }
    this.#entries.set(token, { value, readAtMs });
    this.#characters += token.length;
  }

  delete(token: string): void {
    if (this.#entries.delete(token)) this.#characters -= token.length;
  }
}
