/** Polls until `holds` accepts the result, and returns it. The test's timeout is the bound. */
export async function until<T>(poll: () => T | Promise<T>, holds: (result: T) => boolean = Boolean): Promise<T> {
  for (;;) {
    const result = await poll();
    if (holds(result)) return result;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
