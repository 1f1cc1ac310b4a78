import type { Plant } from "../../domain/plant.ts";
import { tagLabel, visibleText } from "../format.ts";
import { navigate } from "../state/location.ts";
import { deletePlants, deleting } from "../state/mutations.ts";
import { selected } from "../state/plants.ts";
import { session } from "../state/session.ts";
import { openDialog } from "./dialog.tsx";
import { PlantDialog } from "./plant-dialog.tsx";
import { Button } from "./primitives.tsx";

interface PlantRowProps {
  readonly plant: Plant;
  /** Position in the whole list, from 0. */
  readonly index: number;
  readonly isActive: boolean;
}

/** A row of the grid. Its controls are for the pointer only; the grid handles the keyboard. */
export function PlantRow({ plant, index, isActive }: PlantRowProps) {
  const { id, tag } = plant;
  const { canWrite = false } = session.value ?? {};
  const name = visibleText(plant.name);
  const isSelected = selected.value.has(id);
  return (
    <tr
      id={`row-${index}`}
      class={isActive ? "active" : ""}
      aria-rowindex={index + 2}
      aria-selected={canWrite ? isSelected : undefined}
      aria-busy={deleting.value.has(id)}
    >
      {canWrite && (
        <td class="select">
          <input
            type="checkbox"
            tabIndex={-1}
            aria-label={`Select ${name}`}
            checked={isSelected}
            onChange={() => toggleSelection(plant)}
          />
        </td>
      )}
      <td class="id number muted">{String(id)}</td>
      <td class="name">
        <button type="button" class="truncate" tabIndex={-1} onClick={() => openDialog(<PlantDialog plant={plant} />)}>
          {name}
        </button>
      </td>
      <td class="tag-cell">
        {tag !== undefined && (
          <button type="button" class="truncate tag" tabIndex={-1} onClick={() => navigate({ tag })}>
            {tagLabel(tag)}
          </button>
        )}
      </td>
      {canWrite && (
        <td class="actions">
          <Button icon="delete" tabIndex={-1} aria-label={`Delete ${name}`} onClick={() => deletePlants([plant])} />
        </td>
      )}
    </tr>
  );
}

/** Selects a plant, or deselects it if it is selected. */
export function toggleSelection({ id }: Plant): void {
  const ids = new Set(selected.peek());
  if (!ids.delete(id)) ids.add(id);
  selected.value = ids;
}
