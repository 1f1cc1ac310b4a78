import { AppError } from "../domain/error.ts";

/** Returns a function that runs operations, at most `max` concurrently; further ones fail with `unavailable`. */
export function limitConcurrency(max: number, message: string) {
  // Created once, because creating stack traces is too slow during a flood.
  const error = new AppError("unavailable", message);
  let running = 0;
  return async <Result>(operation: () => Promise<Result>): Promise<Result> => {
    if (running >= max) throw error;
    running++;
    try {
      return await operation();
    } finally {
      running--;
    }
  };
}
