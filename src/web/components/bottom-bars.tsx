import { useEffect } from "preact/hooks";
import { count } from "../format.ts";
import { deleteSelected, undo, work } from "../state/mutations.ts";
import { hold, letGo, notice, tell } from "../state/notification.ts";
import { selected } from "../state/plants.ts";
import { Action } from "./primitives.tsx";

/** What stays in sight at the foot of the window: what is ticked, what goes on, what was done. */
export function Dock() {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
      if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isTyping) undo();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <div class="dock">
      {selected.value.size > 0 && work.value === undefined && <Selection />}
      {work.value !== undefined && <Work {...work.value} />}
      <div role="status">{notice.value !== undefined && <Notice {...notice.value} />}</div>
    </div>
  );
}

const Selection = () => (
  <section class="card bar row" aria-label="Selection">
    <p class="grow">{selected.value.size.toLocaleString("en")} selected</p>
    <Action icon="delete" class="danger" onClick={deleteSelected}>
      Delete
    </Action>
    <Action
      class="quiet"
      onClick={() => {
        selected.value = new Set();
      }}
    >
      Clear
    </Action>
  </section>
);

const Work = ({ text, done, total, stop }: NonNullable<typeof work.value>) => (
  <section class="card bar row" aria-label={text}>
    <p>
      {text} {done.toLocaleString("en")} of {count(total, "plant")}
    </p>
    <progress class="grow" value={done} max={total} aria-label={text} />
    <Action class="quiet" onClick={stop}>
      Stop
    </Action>
  </section>
);

const Notice = ({ subject, text, isFault, action }: NonNullable<typeof notice.value>) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: it waits while somebody is at it, and does nothing else.
  <div
    class={isFault ? "card bar row faulty" : "card bar row"}
    onMouseEnter={hold}
    onMouseLeave={letGo}
    onFocusCapture={hold}
    onBlurCapture={letGo}
  >
    <p class="grow">
      {subject !== undefined && <bdi class="cut">{subject}</bdi>} {text}
    </p>
    {action && (
      <Action class="quiet" onClick={action.run}>
        {action.label}
      </Action>
    )}
    <Action icon="close" class="quiet square" aria-label="Close" onClick={() => tell(undefined)} />
  </div>
);
