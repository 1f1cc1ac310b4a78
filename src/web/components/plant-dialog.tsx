import type { Plant } from "../../domain/plant.ts";
import { invisibleCharacters, tagLabel, visibleText } from "../format.ts";
import { deletePlants } from "../state/mutations.ts";
import { session } from "../state/session.ts";
import { closeDialog, Dialog } from "./dialog.tsx";
import { Button } from "./primitives.tsx";

/** The details of a plant, untruncated. */
export function PlantDialog({ plant }: { plant: Plant }) {
  const { id, name, tag } = plant;
  const properties = {
    Name: visibleText(name),
    ID: String(id),
    Tag: tagLabel(tag),
    "Invisible characters": invisibleCharacters(name + (tag ?? "")),
  };
  const onDelete = () => {
    closeDialog();
    deletePlants([plant]);
  };
  return (
    <Dialog title="Plant">
      <dl>
        {Object.entries(properties).map(([label, value]) => [
          value !== "" && <dt class="small muted">{label}</dt>,
          value !== "" && <dd>{value}</dd>,
        ])}
      </dl>
      {session.value?.canWrite && (
        <Button icon="delete" class="danger" onClick={onDelete}>
          Delete
        </Button>
      )}
    </Dialog>
  );
}
