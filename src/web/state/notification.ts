import { signal } from "@preact/signals";

/** Message shown after a user action. */
export interface Notification {
  /** The name of the affected plant, or the number of affected plants. */
  readonly subject?: string;
  readonly text: string;
  readonly isError?: boolean;
  /** An optional button. */
  readonly action?: { readonly label: string; run(): void };
}

/** The current notification. */
export const notification = signal<Notification | undefined>();

/** Replaces the current notification. */
export const notify = (next: Notification | undefined): void => {
  notification.value = next;
};
