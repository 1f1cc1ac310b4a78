import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./primitives.tsx";

/** The open dialog; `undefined` when no dialog is open. */
export const currentDialog = signal<ComponentChildren>();
/** Opens a dialog in place of the current one. */
export const openDialog = (dialog: ComponentChildren): void => {
  currentDialog.value = dialog;
};
/** Closes the current dialog. */
export const closeDialog = (): void => openDialog(undefined);

/** A modal dialog. The browser traps the focus, restores it, and closes the dialog on Escape or a click outside. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  const isClosed = () => element.current?.open === false;
  useLayoutEffect(() => {
    if (isClosed()) element.current?.showModal();
  });
  useLayoutEffect(() => {
    const dialog = element.current;
    return () => dialog?.close();
  }, []);
  // The close event is asynchronous: the next dialog may be open by then.
  const onClose = () => isClosed() && closeDialog();
  return (
    <dialog ref={element} closedby="any" class="card" aria-labelledby="dialog-title" onClose={onClose}>
      <header class="row">
        <h2 class="grow" id="dialog-title">
          {title}
        </h2>
        <Button icon="close" aria-label="Close" onClick={closeDialog} />
      </header>
      {children}
    </dialog>
  );
}
