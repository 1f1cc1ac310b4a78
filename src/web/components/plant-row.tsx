import type { NewPlant } from "../../domain/plant.ts";
import { tagText, visible } from "../format.ts";
import { go } from "../state/location.ts";
import { deletePlants, leaving } from "../state/mutations.ts";
import { selected } from "../state/plants.ts";
import { show } from "./dialog.tsx";
import { Action } from "./primitives.tsx";

interface RowProps {
  readonly plant: NewPlant;
  /** Among all rows, from 0. */
  readonly index: number;
  readonly isActive: boolean;
  readonly canWrite: boolean;
}

/** One plant of the list. What is in it is for the pointer; the keyboard acts on the row. */
export function Row({ plant, index, isActive, canWrite }: RowProps) {
  const { id, tag } = plant;
  const name = visible(plant.name);
  const isSelected = selected.value.has(id);
  return (
    <tr
      id={`row-${index}`}
      class={isActive ? "active" : ""}
      aria-rowindex={index + 2}
      aria-selected={canWrite ? isSelected : undefined}
      aria-busy={leaving.value.has(id)}
    >
      {canWrite && (
        <td class="pick">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => toggle(plant)}
          />
        </td>
      )}
      <td class="id number soft">{String(id)}</td>
      <td class="name">
        <button type="button" class="cut" tabIndex={-1} onClick={() => show(plant)}>
          {name}
        </button>
      </td>
      <td class="kind">
        {tag !== undefined && (
          <button type="button" class="cut tag" tabIndex={-1} onClick={() => go({ tag })}>
            {tagText(tag)}
          </button>
        )}
      </td>
      {canWrite && (
        <td class="act">
          <Action
            icon="delete"
            class="square"
            tabIndex={-1}
            aria-label={`Delete ${name}`}
            onClick={() => deletePlants([plant])}
          />
        </td>
      )}
    </tr>
  );
}

/** Ticks a plant, or not any more. */
export function toggle({ id }: NewPlant): void {
  const chosen = new Set(selected.peek());
  if (!chosen.delete(id)) chosen.add(id);
  selected.value = chosen;
}
