import type { NewPlant } from "../../domain/plant.ts";
import { hiddenIn, tagText, visible } from "../format.ts";
import { deletePlants } from "../state/mutations.ts";
import { session } from "../state/session.ts";
import { Dialog, show } from "./dialog.tsx";
import { Action } from "./primitives.tsx";

/** All of a plant, however long its name is. */
export function PlantDialog({ plant }: { plant: NewPlant }) {
  const { id, name, tag } = plant;
  const hidden = hiddenIn(name + (tag ?? ""));
  const remove = () => {
    show(undefined);
    deletePlants([plant]);
  };
  return (
    <Dialog title="Plant">
      <dl>
        <dt class="small soft">Name</dt>
        <dd>{visible(name)}</dd>
        <dt class="small soft">Id</dt>
        <dd class="number">{String(id)}</dd>
        <dt class="small soft">Tag</dt>
        <dd>{tagText(tag)}</dd>
        {hidden !== "" && <dt class="small soft">Characters that cannot be seen</dt>}
        {hidden !== "" && <dd class="number">{hidden}</dd>}
      </dl>
      {session.value?.canWrite && (
        <footer class="row">
          <Action icon="delete" class="danger" onClick={remove}>
            Delete
          </Action>
        </footer>
      )}
    </Dialog>
  );
}
