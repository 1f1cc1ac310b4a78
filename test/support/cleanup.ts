/** Steps that release a resource, newest last. */
const steps = new Set<() => unknown>();

/**
 * Registers a step that releases a resource in case the test that holds it fails before it does so itself. Returns a
 * function that cancels the registration.
 */
export function onCleanUp(release: () => unknown): () => void {
  // A wrapper, so that registering one function twice makes two steps.
  const step = () => release();
  steps.add(step);
  return () => steps.delete(step);
}

/** Releases everything that is still registered, newest first: a program before the folder that it writes to. */
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
