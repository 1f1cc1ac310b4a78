import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { count, tagText } from "../format.ts";
import { place } from "../state/location.ts";
import { explain, patientClient } from "../state/session.ts";
import { Dialog, show } from "./dialog.tsx";
import { Action } from "./primitives.tsx";

const CHOICES = [
  { format: "csv", name: "CSV", help: "For spreadsheets. Names stand in it exactly, even one like =1+1." },
  { format: "ndjson", name: "NDJSON", help: "For programs: one plant on every line." },
] as const;

/** Saves the plants of the current filter as a file. */
export function ExportDialog() {
  const { tag } = place.value;
  const written = useSignal<number | undefined>(undefined);
  const fault = useSignal("");
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);

  async function save(format: (typeof CHOICES)[number]["format"]): Promise<void> {
    if (written.value !== undefined) return;
    const { signal } = stop.current;
    const onCount = (count: number) => {
      written.value = count;
    };
    onCount(0);
    fault.value = "";
    try {
      const { download, plantsFile } = await import("../file-io.ts");
      const file = await plantsFile(patientClient(), tag, format, onCount, signal);
      if (signal.aborted) return;
      download(file, `plants.${format}`);
      show(undefined);
    } catch (error) {
      if (!signal.aborted) fault.value = explain(error);
    }
    written.value = undefined;
  }
  return (
    <Dialog title="Export">
      <p>
        {tag === undefined ? "All plants, with their ids." : "The plants with the tag "}
        {tag !== undefined && <bdi class="cut tag">{tagText(tag)}</bdi>}
      </p>
      {CHOICES.map(({ format, name, help }) => (
        <div class="choice row" key={format}>
          <Action icon="export" aria-disabled={written.value !== undefined} onClick={() => save(format)}>
            {name}
          </Action>
          <p class="small soft">{help}</p>
        </div>
      ))}
      <p role="status">{written.value !== undefined && `Writing… ${count(written.value, "plant")}`}</p>
      <p class="fault" role="alert">
        {fault}
      </p>
    </Dialog>
  );
}
