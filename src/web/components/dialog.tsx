import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { closeDialog, currentDialog } from "../state/dialog.ts";
import { Button } from "./primitives.tsx";

/** A modal dialog. The browser traps the focus, restores it, and closes the dialog on Escape. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  const own = useRef(currentDialog.peek());
  // The close event is asynchronous: another dialog may be open by then.
  const close = () => {
    if (currentDialog.peek() === own.current) closeDialog();
  };
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the keyboard equivalent of a click on the backdrop.
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
          <Button icon="close" class="secondary square" aria-label="Close" onClick={close} />
        </header>
        {children}
      </div>
    </dialog>
  );
}
