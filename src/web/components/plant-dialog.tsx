import type { Plant } from "../../domain/plant.ts";
import { invisibleCharacters, tagLabel, visibleText } from "../format.ts";
import { closeDialog } from "../state/dialog.ts";
import { deletePlants } from "../state/mutations.ts";
import { session } from "../state/session.ts";
import { Dialog } from "./dialog.tsx";
import { Button } from "./primitives.tsx";

/** The details of a plant, untruncated. */
export function PlantDialog({ plant }: { plant: Plant }) {
  const { id, name, tag } = plant;
  const invisible = invisibleCharacters(name + (tag ?? ""));
  const onDelete = () => {
    closeDialog();
    deletePlants([plant]);
  };
  return (
    <Dialog title="Plant">
      <dl>
        <dt class="small muted">Name</dt>
        <dd>{visibleText(name)}</dd>
        <dt class="small muted">ID</dt>
        <dd class="number">{String(id)}</dd>
        <dt class="small muted">Tag</dt>
        <dd>{tagLabel(tag)}</dd>
        {invisible !== "" && <dt class="small muted">Invisible characters</dt>}
        {invisible !== "" && <dd class="number">{invisible}</dd>}
      </dl>
      {session.value?.canWrite && (
        <footer class="row">
          <Button icon="delete" class="danger" onClick={onDelete}>
            Delete
          </Button>
        </footer>
      )}
    </Dialog>
  );
}
