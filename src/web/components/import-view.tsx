import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { formatCount, tagLabel, visibleText } from "../format.ts";
import {
  cancelImport,
  chooseFile,
  type Preview,
  type Progress,
  preview,
  progress,
  reset,
  startImport,
} from "../state/import.ts";
import { useAction } from "./hooks.ts";
import { Button, EmptyState, ErrorText, Link, Statistics, Table } from "./primitives.tsx";

/** Skipped rows shown on the page; the download has more. */
const SKIPPED_SHOWN = 100;
const HEADINGS = { running: "Importing…", done: "Imported", stopped: "Stopped", failed: "Interrupted" };

/** Imports a file in three steps: choose it, check its preview, watch the progress. */
export function ImportView() {
  return (
    <>
      <div class="title row">
        <h1>Import</h1>
      </div>
      {preview.value === undefined ? (
        <FileChooser />
      ) : progress.value === undefined ? (
        <PreviewCard preview={preview.value} />
      ) : (
        <ProgressCard preview={preview.value} progress={progress.value} />
      )}
    </>
  );
}

function FileChooser() {
  const { isBusy, error, run } = useAction();
  const isDragOver = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const onFiles = (files: FileList | null | undefined) => {
    isDragOver.value = false;
    const file = files?.[0];
    if (file) run((signal) => chooseFile(file, signal));
  };
  return (
    <section
      class={isDragOver.value ? "drop-zone drag-over" : "drop-zone"}
      aria-label="File"
      onDragOver={(event) => {
        event.preventDefault();
        isDragOver.value = true;
      }}
      onDragLeave={() => onFiles(undefined)}
      onDrop={(event) => {
        event.preventDefault();
        onFiles(event.dataTransfer?.files);
      }}
    >
      <EmptyState title={isBusy.value ? "Reading…" : "Drop a file here"}>
        <p>CSV, JSON or NDJSON with the fields id, name and tag (optional)</p>
        <Button icon="import" aria-disabled={isBusy.value} onClick={() => input.current?.click()}>
          Choose a file
        </Button>
        <input
          ref={input}
          type="file"
          hidden
          accept=".csv,.json,.ndjson,.jsonl"
          onChange={({ currentTarget }) => onFiles(currentTarget.files)}
        />
        <ErrorText>{error}</ErrorText>
      </EmptyState>
    </section>
  );
}

function PreviewCard({ preview }: { preview: Preview }) {
  const { file, first, valid, invalid } = preview;
  const ignored = [...preview.ignored].map(visibleText);
  return (
    <section class="card" aria-label="Preview">
      <h2>{file.name}</h2>
      <p>
        {formatCount(valid, "plant")} to import.
        {invalid > 0 && ` ${formatCount(invalid, "row is", "rows are")} invalid and will be skipped.`}
        {ignored.length > 0 && ` Ignored ${ignored.length === 1 ? "column" : "columns"}: ${ignored.join(", ")}.`}
      </p>
      <Table
        label="First rows"
        columns={["Line", "ID", "Name", "Tag"]}
        rows={first.map((row) =>
          "plant" in row
            ? [BigInt(row.line), row.plant.id, visibleText(row.plant.name), tagLabel(row.plant.tag)]
            : [
                BigInt(row.line),
                "",
                <span key="error" class="error">
                  {row.problem}
                </span>,
                "",
              ],
        )}
      />
      <footer class="row">
        <Button aria-disabled={valid === 0} onClick={() => valid > 0 && startImport()}>
          Import {formatCount(valid, "plant")}
        </Button>
        <Button class="secondary" onClick={reset}>
          Choose another file
        </Button>
      </footer>
    </section>
  );
}

function ProgressCard({ preview, progress }: { preview: Preview; progress: Progress }) {
  const { status, imported, skippedCount, seconds, error } = progress;
  const isRunning = status === "running";
  return (
    <section class="card" aria-label="Import">
      <h2 aria-live="polite">{HEADINGS[status]}</h2>
      <progress max={preview.valid + preview.invalid} value={imported + skippedCount} aria-label="Rows processed" />
      <Statistics
        values={{
          [`of ${formatCount(preview.valid, "plant")}`]: imported,
          "per second": Math.round(imported / Math.max(seconds, 0.1)),
          skipped: skippedCount,
        }}
      />
      <ErrorText>
        {error && `${error} You can continue the import: plants that are already imported are not created twice.`}
      </ErrorText>
      <footer class="row">
        {isRunning && (
          <Button class="secondary" onClick={cancelImport}>
            Cancel
          </Button>
        )}
        {status === "done" && (
          <Link class="button" to={{ view: "plants", tag: undefined, find: "" }}>
            View plants
          </Link>
        )}
        {(status === "stopped" || status === "failed") && <Button onClick={startImport}>Continue</Button>}
        {!isRunning && (
          <Button class="secondary" onClick={reset}>
            Choose another file
          </Button>
        )}
      </footer>
      {!isRunning && skippedCount > 0 && <SkippedRows progress={progress} />}
    </section>
  );
}

function SkippedRows({ progress: { skipped, skippedCount } }: { progress: Progress }) {
  const save = async () => {
    const { download, skippedRowsFile } = await import("../file-io.ts");
    download(skippedRowsFile(skipped), "skipped.csv");
  };
  return (
    <>
      <h2>Skipped rows</h2>
      <Table
        label="Skipped rows"
        columns={["Line", "Reason"]}
        rows={skipped.slice(0, SKIPPED_SHOWN).map(({ line, reason }) => [BigInt(line), reason])}
      />
      <footer class="row">
        <Button icon="export" class="secondary" onClick={save}>
          Download {skipped.length < skippedCount && "the first "}
          {formatCount(skipped.length, "skipped row")}
        </Button>
      </footer>
    </>
  );
}
