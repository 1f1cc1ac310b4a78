import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { describeError } from "../state/session.ts";
import { EmptyState, Skeleton } from "./primitives.tsx";

/** The API reference, whose code and content are loaded on demand. */
export function ApiView() {
  const content = useSignal<ComponentChildren>(<Skeleton />);
  useEffect(() => {
    const load = async () => {
      const { loadReference } = await import("../reference/reference.tsx");
      content.value = await loadReference();
    };
    load().catch((error) => {
      content.value = (
        <EmptyState title="The API reference could not be loaded" isError>
          {describeError(error)}
        </EmptyState>
      );
    });
  }, [content]);
  return <>{content.value}</>;
}
