import type { RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { randomKey } from "../../client/client.ts";
import { PLANT_FIELDS, type PlantField, parsePlant, parsePlantId } from "../../domain/plant.ts";
import { findFreeId, randomId } from "../free-id.ts";
import { location } from "../state/location.ts";
import { addPlant } from "../state/mutations.ts";
import { plants } from "../state/plants.ts";
import { session } from "../state/session.ts";
import { closeDialog, Dialog } from "./dialog.tsx";
import { useAction } from "./hooks.ts";
import { ErrorText, Field } from "./primitives.tsx";

const INPUTS = [
  { name: "name", label: "Name", autofocus: true },
  { name: "tag", label: "Tag (optional)", list: "tags" },
  { name: "id", label: "ID", inputMode: "numeric", placeholder: "Finding a free ID…" },
] as const;

/** The form for a new plant. */
export function AddDialog() {
  const { isBusy, error, run } = useAction();
  const form = useRef<HTMLFormElement>(null);
  const key = useMemo(randomKey, []);
  useSuggestedId(form);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error.value]);

  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const [id = "", name, tag] = PLANT_FIELDS.map((field) => String(fields.get(field)));
    run(async () => {
      await addPlant(parsePlant({ id: parsePlantId(id.trim()), name, tag: tag === "" ? undefined : tag }), key);
      closeDialog();
    });
  };
  // Each sentence of an API error begins with the field's name.
  const sentences = error.value.split(/; (?=(?:id|name|tag) )/);
  const errorOf = (field: PlantField) => sentences.find((sentence) => sentence.startsWith(`${field} `));
  return (
    <Dialog title="Add a plant">
      <form ref={form} onSubmit={submit} noValidate>
        {INPUTS.map((input) => (
          <Field
            key={input.name}
            {...input}
            id={`new-${input.name}`}
            error={errorOf(input.name)}
            defaultValue={input.name === "tag" ? location.peek().tag : undefined}
          />
        ))}
        <ErrorText>{!PLANT_FIELDS.some(errorOf) && error.value}</ErrorText>
        <button type="submit" aria-disabled={isBusy.value}>
          {isBusy.value ? "Adding…" : "Add"}
        </button>
      </form>
    </Dialog>
  );
}

/** Fills in a free id unless the user types one first. If the field has the focus, selects the id so typing replaces it. */
function useSuggestedId(form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const controller = new AbortController();
    const { client, canRead = false } = session.peek() ?? {};
    const lowerBound = plants.peek().at(-1)?.id ?? 0n;
    const suggestion = client && canRead ? findFreeId(client, lowerBound, controller.signal) : Promise.reject();
    suggestion.catch(randomId).then((id) => {
      const input = form.current?.querySelector<HTMLInputElement>("#new-id");
      if (input?.value !== "") return;
      input.value = String(id);
      if (input === document.activeElement) input.select();
    });
    return () => controller.abort();
  }, [form]);
}
