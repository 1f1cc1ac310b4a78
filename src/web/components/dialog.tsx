import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { NewPlant } from "../../domain/plant.ts";
import { Action } from "./primitives.tsx";

/** The dialog that is shown: a form, or a plant. */
export const shown = signal<"add" | "export" | NewPlant | undefined>();
/** Shows a dialog, or none. */
export const show = (dialog: typeof shown.value): void => {
  shown.value = dialog;
};

/** A window over the page. The browser keeps the focus in it, gives it back, and closes it on Escape. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  const own = useRef(shown.peek());
  // The browser tells of Escape a little later: by then another dialog may be shown.
  const close = () => {
    if (shown.peek() === own.current) show(undefined);
  };
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it does what Escape does.
    <dialog
      ref={element}
      class="card"
      aria-labelledby="dialog-title"
      onClose={close}
      onClick={({ target }) => target === element.current && close()}
    >
      <div class="panel">
        <header class="row">
          <h2 class="grow" id="dialog-title">
            {title}
          </h2>
          <Action icon="close" class="quiet square" aria-label="Close" onClick={close} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
