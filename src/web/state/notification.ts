import { signal } from "@preact/signals";

/** Milliseconds until a notification closes. The timer pauses while the notification has the pointer or the focus. */
const TIMEOUT_MS = 10_000;

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
let timer: ReturnType<typeof setTimeout> | undefined;

/** Replaces the current notification. Errors stay until closed. */
export function notify(next: Notification | undefined): void {
  notification.value = next;
  restartTimer();
}

/** Keeps the notification open until {@link restartTimer}. */
export function stopTimer(): void {
  clearTimeout(timer);
}

/** Closes the notification after {@link TIMEOUT_MS}, unless it is an error. */
export function restartTimer(): void {
  clearTimeout(timer);
  const current = notification.peek();
  if (current === undefined || current.isError) return;
  timer = setTimeout(() => {
    if (notification.peek() === current) notification.value = undefined;
  }, TIMEOUT_MS);
}
