import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatCount, tagLabel } from "../format.ts";
import { closeDialog } from "../state/dialog.ts";
import { location } from "../state/location.ts";
import { describeError, longTaskClient } from "../state/session.ts";
import { Dialog } from "./dialog.tsx";
import { Button, ErrorText } from "./primitives.tsx";

const CHOICES = [
  { format: "csv", name: "CSV", help: "For spreadsheets. Names are written unchanged, even ones like =1+1." },
  { format: "ndjson", name: "NDJSON", help: "For programs. One plant per line." },
] as const;

/** Exports the plants with the current tag, or all plants, to a file. */
export function ExportDialog() {
  const { tag } = location.value;
  const exported = useSignal<number | undefined>(undefined);
  const errorText = useSignal("");
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);

  async function save(format: (typeof CHOICES)[number]["format"]): Promise<void> {
    if (exported.value !== undefined) return;
    const { signal } = controller.current;
    const onProgress = (count: number) => {
      exported.value = count;
    };
    onProgress(0);
    errorText.value = "";
    try {
      const { download, exportPlants } = await import("../file-io.ts");
      const file = await exportPlants(longTaskClient(), tag, format, onProgress, signal);
      if (signal.aborted) return;
      download(file, `plants.${format}`);
      closeDialog();
    } catch (error) {
      if (!signal.aborted) errorText.value = describeError(error);
    }
    exported.value = undefined;
  }
  return (
    <Dialog title="Export">
      <p>
        {tag === undefined ? "All plants, with their IDs." : "Plants with the tag "}
        {tag !== undefined && <bdi class="truncate tag">{tagLabel(tag)}</bdi>}
      </p>
      {CHOICES.map(({ format, name, help }) => (
        <div class="choice row" key={format}>
          <Button icon="export" aria-disabled={exported.value !== undefined} onClick={() => save(format)}>
            {name}
          </Button>
          <p class="small muted">{help}</p>
        </div>
      ))}
      <p role="status">{exported.value !== undefined && `Exporting… ${formatCount(exported.value, "plant")}`}</p>
      <ErrorText>{errorText}</ErrorText>
    </Dialog>
  );
}
