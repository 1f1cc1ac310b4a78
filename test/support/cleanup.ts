/** Steps that release a resource, newest last. */
const steps = new Set<() => unknown>();

/**
 * Registers a function that releases a resource if the test fails before it releases the resource itself. Returns a
 * function that cancels the registration.
 */
export function onCleanUp(release: () => unknown): () => void {
  // A wrapper, so that registering one function twice makes two steps.
  const step = () => release();
  steps.add(step);
  return () => steps.delete(step);
}

/** Calls all registered functions, newest first, so that a process ends before its folder is removed. */
export async function cleanUp(): Promise<void> {
  const errors: unknown[] = [];
  for (const step of [...steps].reverse()) {
    steps.delete(step);
    try {
      await step();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, "clean-up failed");
}
