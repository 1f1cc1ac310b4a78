import { signal } from "@preact/signals";

/** Milliseconds that a notice stays; it waits while somebody points at it or has its button in focus. */
const SHOWN_MS = 10_000;

/** What the page has to say about something that was done. */
export interface Notice {
  /** What it is about: the name of a plant, or how many. */
  readonly subject?: string;
  readonly text: string;
  readonly isFault?: boolean;
  /** What its button does, and says. */
  readonly action?: { readonly label: string; run(): void };
}

/** The one notice that is shown. */
export const notice = signal<Notice | undefined>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows a notice for some seconds, or a fault until it is closed. */
export function tell(next: Notice | undefined): void {
  notice.value = next;
  letGo();
}

/** Keeps the notice for as long as somebody is at it. */
export function hold(): void {
  clearTimeout(timer);
}

/** Lets the time of the notice run, from its start. */
export function letGo(): void {
  clearTimeout(timer);
  const shown = notice.peek();
  if (shown === undefined || shown.isFault) return;
  timer = setTimeout(() => {
    if (notice.peek() === shown) notice.value = undefined;
  }, SHOWN_MS);
}
