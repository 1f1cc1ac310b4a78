/** Caches values by token for `maxAgeMs`. The cache is cleared when its tokens exceed `maxCharacters` in total. */
export class TokenCache<Value> {
  readonly #maxAgeMs: number;
  readonly #maxCharacters: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly readAtMs: number }>();
  #characters = 0;

  constructor(maxAgeMs: number, maxCharacters: number) {
    this.#maxAgeMs = maxAgeMs;
    this.#maxCharacters = maxCharacters;
  }

  /** Returns the value of a token, or `undefined` if it is not cached or older than `maxAgeMs`. */
  get(token: string): Value | undefined {
    const entry = this.#entries.get(token);
    return entry !== undefined && performance.now() - entry.readAtMs < this.#maxAgeMs ? entry.value : undefined;
  }

  /** Returns whether a token is cached, even if its value is older than `maxAgeMs`. */
  has(token: string): boolean {
    return this.#entries.has(token);
  }

  /** Caches a value. `readAtMs` is the time of `performance.now()` at which the value was current. */
  set(token: string, value: Value, readAtMs: number): void {
    if (!this.#entries.has(token)) this.#characters += token.length;
    if (this.#characters > this.#maxCharacters) {
      this.#entries.clear();
      this.#characters = token.length;
    }
    this.#entries.set(token, { value, readAtMs });
  }
}
