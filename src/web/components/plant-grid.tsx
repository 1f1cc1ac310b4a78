import { useSignal } from "@preact/signals";
import type { TargetedMouseEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { NewPlant } from "../../domain/plant.ts";
import { place } from "../state/location.ts";
import { deletePlants, deleteSelected } from "../state/mutations.ts";
import { isWhole, loadMore, selected } from "../state/plants.ts";
import { session } from "../state/session.ts";
import { show } from "./dialog.tsx";
import { useMedia, useRowsInSight } from "./hooks.ts";
import { Row, toggle } from "./plant-row.tsx";

/** Pixels, as the style sheet has them. */
const ROW_HEIGHT = { narrow: 64, wide: 48 };
/** Rows before the end at which more is loaded. */
const AHEAD = 400;

/** Any number of plants: only the rows in sight are in the document. One stop for the Tab key, arrows inside. */
export function Grid({ plants }: { plants: readonly NewPlant[] }) {
  const rows = useRef<HTMLTableSectionElement>(null);
  const active = useSignal(0);
  const height = useMedia("(max-width: 40rem)") ? ROW_HEIGHT.narrow : ROW_HEIGHT.wide;
  const [first, last] = useRowsInSight(rows, plants.length, height);
  const { canWrite = false } = session.value ?? {};
  const isFinding = place.value.find !== "";
  useEffect(() => {
    if (!isFinding && last + AHEAD > plants.length) loadMore();
  }, [last, plants, isFinding]);
  // The ids are in order: none is longer than the first or the last.
  const digits = Math.max(...[plants[0], plants.at(-1)].map((plant) => String(plant?.id).length));
  const current = Math.min(active.value, plants.length - 1);

  function onKeyDown(event: KeyboardEvent): void {
    const plant = plants[current];
    if (event.target !== event.currentTarget || plant === undefined) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -current, End: plants.length }[
      event.key
    ];
    if (step !== undefined) moveTo(Math.max(0, Math.min(plants.length - 1, current + step)));
    else if (event.key === "Enter") show(plant);
    else if (event.key === "Escape") selected.value = new Set();
    else if (!canWrite) return;
    else if (event.key === " ") toggle(plant);
    else if (event.key === "Delete") selected.peek().size > 0 ? deleteSelected() : deletePlants([plant]);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) selectAll(plants);
    else return;
    event.preventDefault();
  }
  function moveTo(index: number): void {
    active.value = index;
    // Neither the header nor what stands at the foot may hide it.
    const top = (rows.current?.getBoundingClientRect().top ?? 0) + index * height;
    if (top < 60) scrollBy(0, top - 60);
    else if (top + height > innerHeight - 80) scrollBy(0, top + height - innerHeight + 80);
  }
  /** What was pressed with the pointer is where the keys go on. */
  function onClick({ target, currentTarget }: TargetedMouseEvent<HTMLTableElement>): void {
    const row = (target as Element).closest("tr[id]");
    if (row === null) return;
    active.value = Number(row.id.slice("row-".length));
    currentTarget.focus({ preventScroll: true });
  }
  return (
    <>
      <table
        class={canWrite ? "card grid" : "card grid reading"}
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a grid, as ARIA's Authoring Practices make one.
        role="grid"
        aria-label="Plants"
        aria-describedby="keys"
        aria-rowcount={isWhole.value ? plants.length + 1 : -1}
        aria-multiselectable={canWrite}
        aria-activedescendant={current >= first && current < last ? `row-${current}` : undefined}
        tabIndex={0}
        style={{ "--digits": digits }}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <thead>
          <tr aria-rowindex={1}>
            {canWrite && (
              <th scope="col" class="pick">
                <input
                  type="checkbox"
                  aria-label="Select all"
                  checked={selected.value.size === plants.length}
                  onChange={({ currentTarget }) => selectAll(currentTarget.checked ? plants : [])}
                />
              </th>
            )}
            <th scope="col" class="id">
              Id
            </th>
            <th scope="col">Name</th>
            <th scope="col" class="kind">
              Tag
            </th>
            {canWrite && (
              <th scope="col" class="act">
                <span class="unseen">Delete</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody ref={rows}>
          <Gap height={first * height} />
          {plants.slice(first, last).map((plant, offset) => (
            <Row
              key={String(plant.id)}
              plant={plant}
              index={first + offset}
              isActive={first + offset === current}
              canWrite={canWrite}
            />
          ))}
          <Gap height={Math.max(0, plants.length - last) * height} />
        </tbody>
      </table>
      <p id="keys" hidden>
        Arrow keys move, Enter shows a plant{canWrite && ", Space selects it, Delete deletes it"}.
      </p>
    </>
  );
}

const selectAll = (plants: readonly NewPlant[]): void => {
  selected.value = new Set(plants.map(({ id }) => id));
};

/** In the place of the rows that are out of sight. */
const Gap = ({ height }: { height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it can be focused.
  <tr aria-hidden="true" style={{ height: `${height}px` }} />
);
