import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

/** The open dialog; `undefined` if there is none. */
export const currentDialog = signal<ComponentChildren>();
/** Opens a dialog in place of the current one. */
export const openDialog = (dialog: ComponentChildren): void => {
  currentDialog.value = dialog;
};
/** Closes the current dialog. */
export const closeDialog = (): void => openDialog(undefined);
