import { type Signal, useSignal } from "@preact/signals";
import type { InputHTMLAttributes, RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { randomKey } from "../../client/client.ts";
import { PLANT_FIELDS, type PlantField, parsePlant, parsePlantId } from "../../domain/plant.ts";
import { findFreeId, randomId } from "../free-id.ts";
import { closeDialog } from "../state/dialog.ts";
import { location } from "../state/location.ts";
import { addPlant } from "../state/mutations.ts";
import { plants } from "../state/plants.ts";
import { describeError, session } from "../state/session.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorText } from "./primitives.tsx";

type Values = Record<PlantField, string>;
type FormErrors = Partial<Values> & { readonly other?: string };

/** The form for a new plant. */
export function AddDialog() {
  const values = useSignal<Values>({ id: "", name: "", tag: location.peek().tag ?? "" });
  const errors = useSignal<FormErrors>({});
  const isBusy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const key = useMemo(randomKey, []);
  useSuggestedId(values, form);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [errors.value]);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    const { id, name, tag } = values.value;
    try {
      await addPlant(parsePlant({ id: parsePlantId(id.trim()), name, tag: tag === "" ? undefined : tag }), key);
      closeDialog();
    } catch (error) {
      errors.value = splitByField(describeError(error));
    }
    isBusy.value = false;
  }
  const field = (name: PlantField, label: string, attributes: InputHTMLAttributes) => (
    <>
      <label for={`new-${name}`}>{label}</label>
      <input
        id={`new-${name}`}
        autocomplete="off"
        {...attributes}
        value={values.value[name]}
        aria-invalid={errors.value[name] !== undefined}
        aria-describedby={`new-${name}-error`}
        onInput={({ currentTarget }) => {
          values.value = { ...values.value, [name]: currentTarget.value };
        }}
      />
      <p class="error small" id={`new-${name}-error`}>
        {errors.value[name]}
      </p>
    </>
  );
  return (
    <Dialog title="Add a plant">
      <form ref={form} onSubmit={submit} noValidate>
        {field("name", "Name", { autofocus: true })}
        {field("tag", "Tag (optional)", { list: "tags" })}
        {field("id", "ID", { inputMode: "numeric", placeholder: "Finding a free ID…" })}
        <ErrorText>{errors.value.other}</ErrorText>
        <footer class="row">
          <button type="submit" aria-disabled={isBusy.value}>
            {isBusy.value ? "Adding…" : "Add"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Fills in a free id unless the user types one first. If the field has the focus, selects the id so typing replaces it. */
function useSuggestedId(values: Signal<Values>, form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const { client, canRead = false } = session.peek() ?? {};
    const lowerBound = plants.peek().at(-1)?.id ?? 0n;
    const suggestion = client !== undefined && canRead ? findFreeId(client, lowerBound, signal) : Promise.reject();
    suggestion.catch(randomId).then((id) => {
      if (signal.aborted || values.peek().id !== "") return;
      values.value = { ...values.peek(), id: String(id) };
      const input = form.current?.querySelector<HTMLInputElement>("#new-id");
      if (input && input === document.activeElement) {
        input.value = String(id);
        input.select();
      }
    });
    return () => controller.abort();
  }, [values, form]);
}

/** Splits an API error message by field: each of its sentences begins with the field's name. */
function splitByField(message: string): FormErrors {
  const sentences = message.split(/; (?=(?:id|name|tag) )/);
  const about = (field: PlantField) => sentences.find((sentence) => sentence.startsWith(`${field} `));
  const errors = Object.fromEntries(PLANT_FIELDS.map((field) => [field, about(field)]));
  return Object.values(errors).some((error) => error !== undefined) ? errors : { other: message };
}
