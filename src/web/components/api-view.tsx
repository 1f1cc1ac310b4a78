import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useAction } from "./hooks.ts";
import { EmptyState, Skeleton } from "./primitives.tsx";

/** The API reference, whose code and content are loaded on demand. */
export function ApiView() {
  const content = useSignal<ComponentChildren>(<Skeleton />);
  const { error, run } = useAction();
  useSignalEffect(() => {
    run(async () => {
      const { loadReference } = await import("../reference/reference.tsx");
      content.value = await loadReference();
    });
  });
  if (error.value === "") return <>{content.value}</>;
  return (
    <EmptyState title="The API reference could not be loaded" isError>
      {error}
    </EmptyState>
  );
}
