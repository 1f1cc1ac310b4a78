import { AppError } from "../domain/error.ts";

/** Limits the number of concurrent operations of one kind. */
export class ConcurrencyLimit {
  readonly #max: number;
  /** Created once, because creating stack traces is too slow during a flood. */
  readonly #error: AppError;
  #running = 0;

  constructor(max: number, message: string) {
    this.#max = max;
    this.#error = new AppError("unavailable", message);
  }

  /**
   * Runs an operation and returns its result.
   * @throws AppError `unavailable` when the maximum number is running
   */
  async run<Result>(operation: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#max) throw this.#error;
    this.#running++;
    try {
      return await operation();
    } finally {
      this.#running--;
    }
  }
}
