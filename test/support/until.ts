/** Asks until the answer holds, and returns it. The time limit of the test is the bound. */
export async function until<T>(ask: () => T | Promise<T>, holds: (answer: T) => boolean = Boolean): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (holds(answer)) return answer;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
