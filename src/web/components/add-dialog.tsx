import { type Signal, useSignal } from "@preact/signals";
import type { InputHTMLAttributes, RefObject } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { randomKey } from "../../client/client.ts";
import { FIELDS, type Field } from "../../domain/page.ts";
import { parseNewPlant, parsePlantId } from "../../domain/plant.ts";
import { findFreeId, randomId } from "../free-id.ts";
import { place } from "../state/location.ts";
import { addPlant } from "../state/mutations.ts";
import { plants } from "../state/plants.ts";
import { explain, session } from "../state/session.ts";
import { Dialog, show } from "./dialog.tsx";

type Texts = Record<Field, string>;
type Faults = Partial<Texts> & { readonly other?: string };

/** The form for a new plant. */
export function AddDialog() {
  const texts = useSignal<Texts>({ id: "", name: "", tag: place.peek().tag ?? "" });
  const faults = useSignal<Faults>({});
  const isBusy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const key = useMemo(randomKey, []);
  useProposedId(texts, form);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [faults.value]);

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    if (isBusy.value) return;
    isBusy.value = true;
    const { id, name, tag } = texts.value;
    try {
      await addPlant(parseNewPlant({ id: parsePlantId(id.trim()), name, tag: tag === "" ? undefined : tag }), key);
      show(undefined);
    } catch (error) {
      faults.value = byField(explain(error));
    }
    isBusy.value = false;
  }
  const field = (name: Field, label: string, attributes: InputHTMLAttributes) => (
    <>
      <label for={`new-${name}`}>{label}</label>
      <input
        id={`new-${name}`}
        autocomplete="off"
        {...attributes}
        value={texts.value[name]}
        aria-invalid={faults.value[name] !== undefined}
        aria-describedby={`new-${name}-fault`}
        onInput={({ currentTarget }) => {
          texts.value = { ...texts.value, [name]: currentTarget.value };
        }}
      />
      <p class="fault small" id={`new-${name}-fault`}>
        {faults.value[name]}
      </p>
    </>
  );
  return (
    <Dialog title="Add a plant">
      <form ref={form} onSubmit={submit} noValidate>
        {field("name", "Name", { autofocus: true })}
        {field("tag", "Tag, if wanted", { list: "tags" })}
        {field("id", "Id", { inputMode: "numeric", placeholder: "looking for a free one…" })}
        <p class="fault" role="alert">
          {faults.value.other}
        </p>
        <footer class="row">
          <button type="submit" aria-disabled={isBusy.value}>
            {isBusy.value ? "Adding…" : "Add"}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Fills the id in, unless somebody is faster. Who is in the field already types over it, not behind it. */
function useProposedId(texts: Signal<Texts>, form: RefObject<HTMLFormElement | null>): void {
  useEffect(() => {
    const { signal, abort } = abortable();
    const { client, canRead = false } = session.peek() ?? {};
    const reached = plants.peek().at(-1)?.id ?? 0n;
    const finding = client !== undefined && canRead ? findFreeId(client, reached, signal) : Promise.reject();
    finding.catch(randomId).then((id) => {
      if (signal.aborted || texts.peek().id !== "") return;
      texts.value = { ...texts.peek(), id: String(id) };
      const input = form.current?.querySelector<HTMLInputElement>("#new-id");
      if (input && input === document.activeElement) {
        input.value = String(id);
        input.select();
      }
    });
    return abort;
  }, [texts, form]);
}

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

/** A refusal taken apart: the API begins every sentence about a field with its name. */
function byField(message: string): Faults {
  const sentences = message.split(/; (?=(?:id|name|tag) )/);
  const about = (field: Field) => sentences.find((sentence) => sentence.startsWith(`${field} `));
  const faults = Object.fromEntries(FIELDS.map((field) => [field, about(field)]));
  return Object.values(faults).some((fault) => fault !== undefined) ? faults : { other: message };
}
