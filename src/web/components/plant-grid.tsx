import { useSignal } from "@preact/signals";
import type { TargetedMouseEvent } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Plant } from "../../domain/plant.ts";
import { location } from "../state/location.ts";
import { deletePlants, deleteSelected } from "../state/mutations.ts";
import { isComplete, loadMore, selected } from "../state/plants.ts";
import { session } from "../state/session.ts";
import { openDialog } from "./dialog.tsx";
import { useRowRange } from "./hooks.ts";
import { PlantDialog } from "./plant-dialog.tsx";
import { PlantRow, toggleSelection } from "./plant-row.tsx";

/** Loads the next page when the last rendered row is within this many rows of the end. */
const PREFETCH_ROWS = 400;

/** A virtualized table of plants: renders only the rows near the viewport. One tab stop; arrow keys move inside. */
export function PlantGrid({ plants }: { plants: readonly Plant[] }) {
  const rows = useRef<HTMLTableSectionElement>(null);
  const active = useSignal(0);
  const { start, end, height } = useRowRange(rows, plants.length);
  const { canWrite = false } = session.value ?? {};
  const isSearching = location.value.find !== "";
  useEffect(() => {
    if (!isSearching && end + PREFETCH_ROWS > plants.length) loadMore();
  }, [end, plants, isSearching]);
  // Plants are sorted by id, so the longest id is the first or the last.
  const digits = Math.max(...[plants[0], plants.at(-1)].map((plant) => String(plant?.id).length));
  const current = Math.min(active.value, plants.length - 1);

  function onKeyDown(event: KeyboardEvent): void {
    const plant = plants[current];
    if (event.target !== event.currentTarget || plant === undefined) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -current, End: plants.length }[
      event.key
    ];
    if (step !== undefined) moveTo(Math.max(0, Math.min(plants.length - 1, current + step)));
    else if (event.key === "Enter") openDialog(<PlantDialog plant={plant} />);
    else if (event.key === "Escape") selected.value = new Set();
    else if (!canWrite) return;
    else if (event.key === " ") toggleSelection(plant);
    else if (event.key === "Delete") selected.peek().size > 0 ? deleteSelected() : deletePlants([plant]);
    else if (event.key === "a" && (event.ctrlKey || event.metaKey)) selectAll(plants);
    else return;
    event.preventDefault();
  }
  function moveTo(index: number): void {
    active.value = index;
    // Keep the row clear of the sticky header, which is as high as a row, and of the bottom bars.
    const top = (rows.current?.getBoundingClientRect().top ?? 0) + index * height;
    if (top < height) scrollBy(0, top - height);
    else if (top + height > innerHeight - 80) scrollBy(0, top + height - innerHeight + 80);
  }
  /** Makes the clicked row the active one, so that keyboard navigation continues there. */
  function onClick({ target, currentTarget }: TargetedMouseEvent<HTMLTableElement>): void {
    const row = (target as Element).closest("tr[id]");
    if (row === null) return;
    active.value = Number(row.id.slice("row-".length));
    currentTarget.focus({ preventScroll: true });
  }
  return (
    <>
      <table
        class="card grid"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the grid pattern of the ARIA Authoring Practices.
        role="grid"
        aria-label="Plants"
        aria-describedby="keys"
        aria-rowcount={isComplete.value ? plants.length + 1 : -1}
        aria-multiselectable={canWrite}
        aria-activedescendant={current >= start && current < end ? `row-${current}` : undefined}
        tabIndex={0}
        style={{ "--digits": digits }}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <thead>
          <tr aria-rowindex={1}>
            {canWrite && (
              <td class="select">
                <input
                  type="checkbox"
                  aria-label="Select all"
                  checked={selected.value.size === plants.length}
                  onChange={({ currentTarget }) => selectAll(currentTarget.checked ? plants : [])}
                />
              </td>
            )}
            <th scope="col" class="id">
              ID
            </th>
            <th scope="col" class="name">
              Name
            </th>
            <th scope="col" class="tag-cell">
              Tag
            </th>
            {canWrite && <td class="actions" />}
          </tr>
        </thead>
        <tbody ref={rows}>
          <Spacer height={start * height} />
          {plants.slice(start, end).map((plant, offset) => (
            <PlantRow
              key={String(plant.id)}
              plant={plant}
              index={start + offset}
              isActive={start + offset === current}
            />
          ))}
          <Spacer height={Math.max(0, plants.length - end) * height} />
        </tbody>
      </table>
      <p id="keys" hidden>
        Use the arrow keys to move, Enter to open a plant{canWrite && ", Space to select it, Delete to delete it"}.
      </p>
    </>
  );
}

const selectAll = (plants: readonly Plant[]): void => {
  selected.value = new Set(plants.map(({ id }) => id));
};

/** Takes up the height of the rows that are not rendered. */
const Spacer = ({ height }: { height: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row has no focusable content.
  <tr aria-hidden="true" style={{ height: `${height}px` }} />
);
