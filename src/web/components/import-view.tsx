import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { count, tagText, visible } from "../format.ts";
import sprout from "../sprout.svg";
import {
  cancel,
  choose,
  fileFault,
  forget,
  isReading,
  type Preview,
  type Progress,
  passedOver,
  preview,
  progress,
  start,
} from "../state/import.ts";
import { Figures } from "./overview.tsx";
import { Action, Link, Table } from "./primitives.tsx";

/** Refused rows that are shown; the file has the others too. */
const SHOWN = 100;
const HEADINGS = { running: "Importing…", done: "Imported", stopped: "Stopped", failed: "Interrupted" };

/** Brings the plants of a file in: chosen, looked at, on their way. */
export function ImportView() {
  return (
    <>
      <div class="title row">
        <h1>Import</h1>
      </div>
      {preview.value === undefined && <Chooser />}
      {preview.value !== undefined && progress.value === undefined && <Look preview={preview.value} />}
      {preview.value !== undefined && progress.value !== undefined && (
        <Course preview={preview.value} progress={progress.value} />
      )}
    </>
  );
}

function Chooser() {
  const isOver = useSignal(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => {
    isOver.value = false;
    if (files?.[0]) choose(files[0]);
  };
  return (
    <section
      class={isOver.value ? "card blank drop over" : "card blank drop"}
      aria-label="File"
      onDragOver={(event) => {
        event.preventDefault();
        isOver.value = true;
      }}
      onDragLeave={() => take(undefined)}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer?.files);
      }}
    >
      <img src={sprout} alt="" width="72" height="72" />
      <h2>{isReading.value ? "Reading…" : "Drop a file here"}</h2>
      <p class="soft">CSV, JSON or NDJSON, with the fields id, name and, if wanted, tag</p>
      <Action icon="import" aria-disabled={isReading.value} onClick={() => input.current?.click()}>
        Choose a file
      </Action>
      <input
        ref={input}
        type="file"
        hidden
        accept=".csv,.json,.ndjson,.jsonl"
        onChange={({ currentTarget }) => take(currentTarget.files)}
      />
      <p class="fault" role="alert">
        {fileFault}
      </p>
    </section>
  );
}

/** What is in the file, before anything is sent. */
function Look({ preview }: { preview: Preview }) {
  const { file, first, good, bad } = preview;
  const others = passedOver(preview).map(visible).join(", ");
  return (
    <section class="card" aria-label="Preview">
      <h2>{file.name}</h2>
      <p>
        {count(good, "plant")} to import.
        {bad > 0 && ` ${count(bad, "row is", "rows are")} no plant and will be refused.`}
        {others !== "" && ` These columns are passed over: ${others}.`}
      </p>
      <Table
        caption="The first rows"
        columns={["Line", "Id", "Name", "Tag"]}
        rows={first.map((row) =>
          "plant" in row
            ? [BigInt(row.line), row.plant.id, visible(row.plant.name), tagText(row.plant.tag)]
            : [
                BigInt(row.line),
                "",
                <span key="fault" class="fault">
                  {row.problem}
                </span>,
                "",
              ],
        )}
      />
      <footer class="row">
        <Action aria-disabled={good === 0} onClick={() => good > 0 && start()}>
          Import {count(good, "plant")}
        </Action>
        <Action class="quiet" onClick={forget}>
          Another file
        </Action>
      </footer>
    </section>
  );
}

/** How it goes, and how it went. */
function Course({ preview, progress }: { preview: Preview; progress: Progress }) {
  const { status, imported, refusedCount, seconds, fault } = progress;
  const isRunning = status === "running";
  return (
    <section class="card" aria-label="Import">
      <h2 aria-live="polite">{HEADINGS[status]}</h2>
      <progress max={preview.good + preview.bad} value={imported + refusedCount} aria-label="Rows settled" />
      <Figures
        figures={{
          [`of ${count(preview.good, "plant")}`]: imported,
          "a second": Math.round(imported / Math.max(seconds, 0.1)),
          refused: refusedCount,
        }}
      />
      {fault !== "" && (
        <p class="fault" role="alert">
          {fault} Nothing is lost: go on, and what is there already is not created twice.
        </p>
      )}
      <footer class="row">
        {isRunning && (
          <Action class="quiet" onClick={cancel}>
            Cancel
          </Action>
        )}
        {status === "done" && (
          <Link class="button" to={{ view: "plants", tag: undefined, find: "" }}>
            See the plants
          </Link>
        )}
        {(status === "stopped" || status === "failed") && <Action onClick={start}>Go on</Action>}
        {!isRunning && (
          <Action class="quiet" onClick={forget}>
            Another file
          </Action>
        )}
      </footer>
      {!isRunning && refusedCount > 0 && <RefusedRows progress={progress} />}
    </section>
  );
}

function RefusedRows({ progress: { refused, refusedCount } }: { progress: Progress }) {
  const save = async () => {
    const { download, refusedFile } = await import("../file-io.ts");
    download(refusedFile(refused), "refused.csv");
  };
  return (
    <>
      <h2>Refused rows</h2>
      <Table
        caption="Refused rows"
        columns={["Line", "Reason"]}
        rows={refused.slice(0, SHOWN).map(({ line, reason }) => [BigInt(line), reason])}
      />
      <footer class="row">
        <Action icon="export" class="quiet" onClick={save}>
          Download {refused.length < refusedCount && "the first "}
          {count(refused.length, "refused row")}
        </Action>
      </footer>
    </>
  );
}
