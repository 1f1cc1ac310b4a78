import { pipeline, Readable } from "node:stream";
import { parse as parseCsv } from "csv-parse";
import { stringify as csvLines } from "csv-stringify/sync";
import { UsageError } from "../config.ts";
import type { AppError } from "../domain/error.ts";
import { parseJson, stringifyJson } from "../domain/json.ts";
import { FIELDS } from "../domain/page.ts";
import { idTextFault, type NewPlant, parseNewPlant, parsePlantId } from "../domain/plant.ts";

/** The formats that import and export know. */
export const FORMATS = ["ndjson", "csv", "json"] as const;
/** One of {@link FORMATS}. */
export type Format = (typeof FORMATS)[number];

/** A row of a file: the plant it holds, or what is wrong with it. `line` counts from 1; in a JSON array, elements. */
export type Row = { readonly line: number } & ({ readonly plant: NewPlant } | { readonly fault: string });

/** A line longer than this is no plant: the longest one, with every character escaped, is under 16 KiB. */
const MAX_LINE_BYTES = 1024 * 1024;

/** The format that `--format` names, or else the file's extension. */
export function chooseFormat(file: string, named: string | undefined): Format {
  const name = named ?? /\.([^./]+)$/.exec(file)?.[1]?.toLowerCase() ?? "";
  const format = FORMATS.find((each) => each === (name === "jsonl" ? "ndjson" : name));
  if (format !== undefined) return format;
  throw new UsageError(`--format must be ${FORMATS.join(", ")}${named === undefined ? `: ${file} does not tell` : ""}`);
}

/** Reads the plants of a file, row by row; a bad row does not end it. */
export function readRows(bytes: AsyncIterable<Uint8Array>, format: Format): AsyncGenerator<Row, void> {
  return { ndjson: readNdjson, csv: readCsv, json: readJsonArray }[format](bytes);
}

/** Writes plants as the text of a file, piece by piece. */
export async function* writeRows(plants: AsyncIterable<NewPlant>, format: Format): AsyncGenerator<string, void> {
  if (format === "csv") yield `${FIELDS.join(",")}\n`;
  let separator = "[\n";
  for await (const { id, name, tag } of plants) {
    // An empty tag is quoted and no tag is not: so both survive.
    if (format === "csv") yield csvLines([[String(id), name, tag]], { quoted_match: /^$|\r/ });
    else if (format === "ndjson") yield `${stringifyJson({ id, name, tag })}\n`;
    else yield `${separator}${stringifyJson({ id, name, tag })}`;
    separator = ",\n";
  }
  if (format === "json") yield separator === "[\n" ? "[]\n" : "\n]\n";
}

async function* readNdjson(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 0;
  for await (const lineBytes of splitLines(bytes)) {
    line++;
    try {
      const text = decoder.decode(lineBytes);
      if (text.trim() !== "") yield toRow(line, parseJson(text));
    } catch {
      yield { line, fault: "the line must be one JSON object in well-formed UTF-8" };
    }
  }
}

async function* readJsonArray(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row, void> {
  const elements = parseJson((await Array.fromAsync(decode(bytes))).join(""));
  if (!Array.isArray(elements)) throw new Error("the file must be one JSON array");
  for (const [index, element] of elements.entries()) yield toRow(index + 1, element);
}

async function* readCsv(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Row, void> {
  const options = {
    bom: true,
    info: true,
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    skip_empty_lines: true,
    cast: toCell,
  };
  const parser = pipeline(Readable.from(decode(bytes)), parseCsv(options), () => {});
  let columns: string[] | undefined;
  for await (const { record, info } of parser as AsyncIterable<{ record: Cell[]; info: { lines: number } }>) {
    if (columns === undefined) {
      columns = record.map((cell) => cell?.toLowerCase() ?? "");
      const missing = ["id", "name"].filter((name) => !columns?.includes(name));
      if (missing.length > 0 || new Set(columns).size < columns.length) {
        throw new Error("the first line must name the columns, each once, id and name among them");
      }
    } else if (record.length !== columns.length) {
      yield { line: info.lines, fault: `the line must have ${columns.length} columns, as the first one has` };
    } else {
      const { id, name, tag } = Object.fromEntries(
        columns.map((column, index) => [column, record[index] ?? undefined]),
      );
      const parsedId = parsePlantId(id ?? "");
      if (parsedId === undefined) yield { line: info.lines, fault: idTextFault("id") };
      else yield toRow(info.lines, { id: parsedId, name, tag });
    }
  }
  if (columns === undefined) throw new Error("the file is empty: its first line must name the columns");
}

/** A cell without quotes and without text holds nothing; with quotes it holds an empty text. */
type Cell = string | null;
const toCell = (text: string, { quoting }: { quoting: boolean }) => (text === "" && !quoting ? null : text) as string;

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

function toRow(line: number, value: unknown): Row {
  try {
    return { line, plant: parseNewPlant(value) };
  } catch (error) {
    return { line, fault: (error as AppError).message };
  }
}

/** Only line feeds end a line: U+2028 and its like may stand in a JSON string. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const data = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      yield data.subarray(start, end);
      start = end + 1;
    }
    rest = data.subarray(start);
    if (rest.length > MAX_LINE_BYTES) throw new Error(`a line is longer than ${MAX_LINE_BYTES} bytes: is this NDJSON?`);
  }
  if (rest.length > 0) yield rest;
}
