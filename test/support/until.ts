/** Polls until `holds` returns true for the result, and returns the result. The test's timeout is the limit. */
export async function until<T>(poll: () => T | Promise<T>, holds: (result: T) => boolean = Boolean): Promise<T> {
  for (;;) {
    const result = await poll();
    if (holds(result)) return result;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
