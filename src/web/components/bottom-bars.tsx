import { formatCount } from "../format.ts";
import { bulkProgress, deleteSelected, undo } from "../state/mutations.ts";
import { notification, notify } from "../state/notification.ts";
import { selected } from "../state/plants.ts";
import { Button } from "./primitives.tsx";

addEventListener("keydown", ({ ctrlKey, metaKey, key, target }: KeyboardEvent) => {
  const isTyping = target instanceof HTMLElement && target.matches("input:not([type=checkbox]), textarea");
  if ((ctrlKey || metaKey) && key === "z" && !isTyping) undo();
});

/** The bars fixed to the bottom of the window: selection, bulk progress and notification. */
export const BottomBars = () => (
  <div class="bottom-bars">
    {selected.value.size > 0 && bulkProgress.value === undefined && <SelectionBar />}
    {bulkProgress.value !== undefined && <ProgressBar {...bulkProgress.value} />}
    <div role="status">
      {notification.value !== undefined && <NotificationBar key={notification.value} {...notification.value} />}
    </div>
  </div>
);

const SelectionBar = () => (
  <section class="card bar row" aria-label="Selection">
    <p class="grow">{selected.value.size.toLocaleString("en")} selected</p>
    <Button icon="delete" class="danger" onClick={deleteSelected}>
      Delete
    </Button>
    <Button
      class="secondary"
      onClick={() => {
        selected.value = new Set();
      }}
    >
      Clear
    </Button>
  </section>
);

const ProgressBar = ({ text, done, total, stop }: NonNullable<typeof bulkProgress.value>) => (
  <section class="card bar row" aria-label={text}>
    <p>
      {text} {done.toLocaleString("en")} of {formatCount(total, "plant")}
    </p>
    <progress class="grow" value={done} max={total} aria-label={text} />
    <Button class="secondary" onClick={stop}>
      Stop
    </Button>
  </section>
);

const NotificationBar = ({ subject, text, isError, action }: NonNullable<typeof notification.value>) => (
  // The animation is a timer that CSS pauses. Errors stay until closed.
  <div class={isError ? "card bar row has-error" : "card bar row expiring"} onAnimationEnd={() => notify(undefined)}>
    <p class="grow">
      {subject !== undefined && <bdi class="truncate">{subject}</bdi>} {text}
    </p>
    {action && (
      <Button class="secondary" onClick={action.run}>
        {action.label}
      </Button>
    )}
    <Button icon="close" aria-label="Close" onClick={() => notify(undefined)} />
  </div>
);
