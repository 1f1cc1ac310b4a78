import { signal } from "@preact/signals";
import type { Plant } from "../../domain/plant.ts";

/** The open dialog: a form, or the details of a plant. */
export const currentDialog = signal<"add" | "export" | "signIn" | Plant | undefined>();
/** Opens a dialog in place of the current one. */
export const openDialog = (dialog: typeof currentDialog.value): void => {
  currentDialog.value = dialog;
};
/** Closes the current dialog. */
export const closeDialog = (): void => openDialog(undefined);
