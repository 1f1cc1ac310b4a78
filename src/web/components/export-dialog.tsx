import { useSignal } from "@preact/signals";
import { formatCount, tagLabel } from "../format.ts";
import { location } from "../state/location.ts";
import { longTaskClient } from "../state/session.ts";
import { closeDialog, Dialog } from "./dialog.tsx";
import { useAction } from "./hooks.ts";
import { Button, ErrorText } from "./primitives.tsx";

const CHOICES = [
  { format: "csv", name: "CSV", help: "For spreadsheets. Names are written unchanged, even ones like =1+1." },
  { format: "ndjson", name: "NDJSON", help: "For programs. One plant per line." },
] as const;

/** Exports the plants with the current tag, or all plants, to a file. */
export function ExportDialog() {
  const { tag } = location.value;
  const exportedCount = useSignal(0);
  const { isBusy, error, run } = useAction();

  const save = (format: (typeof CHOICES)[number]["format"]) =>
    run(async (signal) => {
      exportedCount.value = 0;
      const { download, exportPlants } = await import("../file-io.ts");
      const onProgress = (count: number) => {
        exportedCount.value = count;
      };
      const file = await exportPlants(longTaskClient(), tag, format, onProgress, signal);
      signal.throwIfAborted();
      download(file, `plants.${format}`);
      closeDialog();
    });
  return (
    <Dialog title="Export">
      <p>
        {tag === undefined ? "All plants, with their IDs." : "Plants with the tag "}
        {tag !== undefined && <bdi class="truncate tag">{tagLabel(tag)}</bdi>}
      </p>
      {CHOICES.map(({ format, name, help }) => (
        <div class="choice row" key={format}>
          <Button icon="export" aria-disabled={isBusy.value} onClick={() => save(format)}>
            {name}
          </Button>
          <p class="small muted grow">{help}</p>
        </div>
      ))}
      <p role="status">{isBusy.value && `Exporting… ${formatCount(exportedCount.value, "plant")}`}</p>
      <ErrorText>{error}</ErrorText>
    </Dialog>
  );
}
