import { signal } from "@preact/signals";
import { cloneElement, type VNode } from "preact";

/** The open dialog; `undefined` if there is none. */
export const currentDialog = signal<VNode>();
let opened = 0;

/** Opens a dialog in place of the current one. The key makes it a new element even if both are of one kind. */
export const openDialog = (dialog: VNode): void => {
  currentDialog.value = cloneElement(dialog, { key: ++opened });
};

/** Closes the current dialog. */
export const closeDialog = (): void => {
  currentDialog.value = undefined;
};
